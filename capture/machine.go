package capture

import "strings"

// Machine is what the header of an upload tells about the machine, with the bounds of
// [Facts]. It has memory of its own: whoever wants to may keep it.
type Machine struct {
	CPU    string
	System string // the operating system
	Memory string // "16384 MB"
}

// machineLines reads what the header of an upload tells about the machine, line by
// line and at its end, whatever is kept of its text:
//
//	Platform information:
//	CPU: Some CPU 3700
//	OS: Windows 10  (10.0.0) 64bit
//	Memory: 16384 MB
type machineLines struct {
	within bool
	told   Machine // since take was called last
}

// line looks at a line of a header that is not blank.
func (m *machineLines) line(line string) {
	if !m.within {
		m.within = strings.HasPrefix(line, contextMachine)
		return
	}
	name, value, _ := strings.Cut(line, ": ")
	switch name {
	case "CPU":
		learn(&m.told.CPU, value)
	case "OS":
		learn(&m.told.System, value)
	case "Memory":
		learn(&m.told.Memory, value)
	default:
		m.within = false
	}
}

// message looks at the text of a header that was not read line by line.
func (m *machineLines) message(message string) {
	*m = machineLines{}
	for line := range strings.SplitSeq(message, "\n") {
		m.line(line)
	}
}

// take gives rec what was read since it was called last.
func (m *machineLines) take(rec *Record) {
	if told := m.told; told != (Machine{}) {
		rec.Machine, m.told = &told, Machine{}
	}
}
