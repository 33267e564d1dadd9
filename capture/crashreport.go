package capture

import (
	"bytes"
	"slices"
)

// A crash report is a file of its own, which another program writes when a game dies: Unity's crash handler on
// Windows (error.log in the crash folder), or the system on macOS (.crash, and .ips as text or as JSON). Its records
// are what stands above the cause, as context; the crash, of level fatal, from its cause to the end of the trace of
// the thread that crashed; and the rest, once more as context: modules, memory, the traces of other threads.

// reportPart is where in the record of a crash a line of its report lies.
type reportPart uint8

const (
	reportText    reportPart = iota // the cause and what is said about it
	reportMachine                   // registers, code, memory, and threads before the one that crashed
	reportTrace                     // of the thread that crashed
)

// crashReason is what a report gives as the reason of a crash, the weaker first. It is the source of the record, by
// which rules tell one from another.
type crashReason uint8

const (
	crashUnknown crashReason = iota
	crashLibrary             // in a library that is neither the engine's nor the system's
	crashDriver              // in a driver of the graphics card
	crashMemory              // no memory was left
	crashStack               // a stack overflowed
)

func (c crashReason) source() string {
	return [...]string{"crash", "crash-library", "crash-driver", "crash-memory", "crash-stack"}[c]
}

// isCrashReport reports whether window, the beginning of the input, is a crash report: its cause is there, among
// the first lines or below a head that only such a report has.
func isCrashReport(window []byte) bool {
	const nearTop, deepest = 3, 400
	head := false
	lines := 0
	for len(window) > 0 && lines < deepest {
		b, rest, _ := bytes.Cut(window, []byte("\n"))
		window = rest
		if b = bytes.TrimRight(b, "\r"); blank(b) {
			continue
		}
		lines++
		switch {
		case isCrashCause(b):
			return head || lines <= nearTop
		case isJSONCause(b):
			return head
		case lines <= nearTop:
			head = head || isReportHead(b)
		case !head:
			return false
		}
	}
	return false
}

// isReportHead reports whether b is the line with which a crash report opens:
//
//	Press of Some Company [version: Unity 2031.2.3f1_0123456789ab]
//	Process:               Press [1234]
//	Incident Identifier: 5EED0000-0000-0000-0000-000000000001
//	Translated Report (Full Report Below)
//	{"app_name":"Press", … "bug_type":"309", … }
func isReportHead(b []byte) bool {
	return hasPrefix(b, "Translated Report (Full Report Below)") || hasPrefix(b, "Incident Identifier: ") ||
		(hasPrefix(b, "Process: ") || bytes.Contains(b, []byte(" [version: Unity "))) && hasSuffix(trimRight(b), "]") ||
		b[0] == '{' && bytes.Contains(b, []byte(`"app_name":"`)) && bytes.Contains(b, []byte(`"bug_type":"`))
}

// isCrashCause reports whether b is the line with which Unity's report on Windows, or a report of macOS, names the
// cause of a crash:
//
//	UnityPlayer.dll caused an Access Violation (0xc0000005)
//	Exception Type:        EXC_BAD_ACCESS (SIGSEGV)
func isCrashCause(b []byte) bool {
	return (b[0] == 'E' || b[len(b)-1] == ')') && namesCause(b)
}

const crashCode = "(0x00000000)"

// namesCause is isCrashCause for a line that begins or ends like one.
func namesCause(b []byte) bool {
	if rest, ok := bytes.CutPrefix(b, []byte("Exception Type: ")); ok {
		return hasPrefix(trimLeft(rest), "EXC_")
	}
	n := len(b) - len(crashCode)
	if n < 1 || b[len(b)-1] != ')' || b[n] != '(' || b[n+1] != '0' || b[n+2] != 'x' || len(b) > 2*maxPath {
		return false
	}
	i := bytes.Index(b[:n], []byte(" caused a"))
	return i > 0 && len(bytes.Trim(b[n+3:len(b)-1], hexDigits)) == 0 &&
		(hasPrefix(b[i:], " caused a ") || hasPrefix(b[i:], " caused an "))
}

// maxPath is how long the name of a module may be on Windows.
const maxPath = 260

// isJSONCause reports whether b is the line with which a report on macOS as JSON names the cause of a crash. It
// counts in a crash report only.
//
//	"exception" : {"codes":"0x0000000000000001, 0x0000000000000000", … "type":"EXC_BAD_ACCESS","signal":"SIGSEGV"},
func isJSONCause(b []byte) bool {
	return hasPrefix(trimLeft(b), `"exception" : {`)
}

// isReportEnd reports whether b is the last line of Unity's crash report.
func isReportEnd(b []byte) bool { return hasPrefix(b, "== [end of error.log] ==") }

// threadTitle reports whether b heads the trace of a thread, and whether that is the one that crashed:
//
//	Stack Trace of Crashed Thread 6708:
//	========== OUTPUTTING STACK TRACE ==================
//	Thread 0 Crashed:: Dispatch queue: com.apple.main-thread
//	Stacks for Running Threads:
//	Call Stack for Thread 10700:
//	Thread 3:: tid_307
func threadTitle(b []byte) (crashed, ok bool) {
	switch {
	case isStackTitle(b), hasPrefix(b, "Stack Trace of Crashed Thread "):
		return true, true
	case hasPrefix(b, "Stacks for Running Threads:"), hasPrefix(b, "Call Stack for Thread "):
		return false, true
	case !hasPrefix(b, "Thread "):
		return false, false
	}
	_, rest := number(b[len("Thread "):])
	if len(rest) == 0 || len(rest) == len(b)-len("Thread ") {
		return false, false
	}
	crashed = hasPrefix(rest, " Crashed")
	return crashed, crashed || rest[0] == ':' || hasPrefix(rest, " name:") || hasPrefix(rest, " (")
}

// leavesCrash reports whether b, in a crash report, is about neither the crash nor the thread that crashed.
func leavesCrash(b []byte) bool {
	return hasPrefix(b, "Module ") && len(b) > len("Module ") && isDigit(b[len("Module ")]) ||
		hasPrefix(b, "Stack Memory [") || hasPrefix(b, "Binary Images:") ||
		hasPrefix(b, "Thread ") && bytes.Contains(b, []byte(" crashed with ")) ||
		hasPrefix(trimLeft(b), `"threads" : [`)
}

// joinsCrashReport decides about a line below the cause of a crash.
func (a *assembly) joinsCrashReport(b []byte) verdict {
	if crashed, ok := threadTitle(b); ok {
		switch {
		case crashed:
			a.crash = reportTrace
		case a.crash == reportTrace:
			return apart()
		default:
			a.crash = reportMachine
		}
		return joined(partNone, evidenceBlock)
	}
	switch {
	case leavesCrash(b), isCrashCause(b):
		return apart()
	case isReportEnd(b):
		a.sealed = true
		return joined(partNone, evidenceBlock)
	case string(trimRight(b)) == "Context:":
		a.crash = reportMachine
	}
	switch {
	case a.crash == reportText:
		a.reason = max(a.reason, crashReasonOf(b))
		return joined(partMessage, evidenceBlock)
	case a.crash == reportTrace && isReportFrame(b):
		if a.frames++; a.frames == 1 && isMacDriver(b) {
			a.reason = max(a.reason, crashDriver)
		}
		return joined(partStack, evidenceBlock)
	}
	return joined(partNone, evidenceBlock)
}

// isReportFrame reports whether b is a frame in a crash report: one of native code, of managed code, or of macOS:
//
//	3   UnityPlayer.dylib             	0x0000000104b1c2e3 some_function + 51
func isReportFrame(b []byte) bool {
	if isDigit(b[0]) && b[0] != '0' || b[0] == '0' && len(b) > 1 && b[1] != 'x' {
		return bytes.Contains(b, []byte("0x"))
	}
	return isNativeFrame(b) || isFrame(b) || isShortFrame(b)
}

// isShortFrame reports whether b, in the report of a crash, is a frame of a program of 32 bits:
//
//	0ECADE00 (Mono JIT Code) Some.Press:Turn (int)
func isShortFrame(b []byte) bool {
	const digits = len("0ECADE00")
	return len(b) >= digits+2 && b[digits] == ' ' && b[digits+1] == '(' && len(bytes.Trim(b[:digits], hexDigits)) == 0
}

// isCrashFrame reports whether b, in what a log holds of a crash, is a frame of the thread that crashed. Debuggers
// print all threads; what they say of the others stays in the message.
func (a *assembly) isCrashFrame(b []byte) bool {
	if crashed, ok := debuggedThread(b); ok {
		a.crash = reportMachine
		if crashed {
			a.crash = reportTrace
		}
		return false
	}
	if a.crash == reportMachine || !isNativeFrame(b) && !isFrame(b) && !isShortFrame(b) {
		return false
	}
	if !a.reasoned {
		a.reason, a.reasoned = a.frameReason(b)
	}
	return true
}

// debuggedThread reports whether b heads the trace of a thread in what a debugger prints, and whether that is the one
// that crashed; Mono prints the managed trace of that one once more, below a title of its own:
//
//	Thread 3 (Thread 0x7f3a5c7fe700 (LWP 4242)):
//	  thread #27, name = 'Worker'
//	* thread #1, queue = 'com.apple.main-thread', stop reason = signal SIGSTOP
//		Managed Stacktrace:
func debuggedThread(b []byte) (crashed, ok bool) {
	if hasPrefix(b, "Thread ") {
		return hasPrefix(b, "Thread 1 ("), bytes.Contains(b, []byte(" (Thread 0x"))
	}
	if b[0] == '*' {
		return true, hasPrefix(b, "* thread #")
	}
	t := trimLeft(b)
	return hasPrefix(t, "Managed Stacktrace:"), hasPrefix(t, "Managed Stacktrace:") || hasPrefix(t, "thread #")
}

// frameReason returns the reason that b gives, the innermost frame of a crash. Whether the module is a library, and
// where it is, the list of modules above the trace says:
//
//	C:\Windows\System32\DriverStore\nvwgf2umx.dll:nvwgf2umx.dll (00007FF0DECA0000), size: 4096 (result: 0), …
//	0x00007FF0DECADE00 (nvwgf2umx) NVAPI_Thunk
//
// Mono's own trace begins with its handler of signals, which says nothing.
//
//	0x7f3a5c442520 - /lib/x86_64-linux-gnu/libc.so.6 :
//	0x7f3a5a01c9d4 - ./linux64/widgets.so :
func (a *assembly) frameReason(b []byte) (reason crashReason, last bool) {
	if _, path, ok := bytes.Cut(b, []byte(" - ")); ok {
		path, _, _ = bytes.Cut(path, []byte(" :"))
		return pathReason(path)
	}
	return a.listedReason(b), true
}

// pathReason returns the reason that the path of a library gives, on Linux and macOS, and false where it is one that
// handles crashes.
func pathReason(path []byte) (reason crashReason, last bool) {
	name := path[bytes.LastIndexByte(path, '/')+1:]
	switch {
	case hasAnyPrefix(name, handlerLibraries):
		return crashUnknown, false
	case hasAnyPrefix(name, driverLibraries), bytes.Contains(name, []byte("_dri.so")):
		return crashDriver, true
	case hasPrefix(path, "/lib"), hasPrefix(path, "/usr/lib"), hasPrefix(path, "/System/"),
		hasAnyPrefix(name, engineLibraries):
		return crashUnknown, true
	case bytes.Contains(name, []byte(".so")), hasSuffix(trimRight(name), ".dylib"):
		return crashLibrary, true
	}
	return crashUnknown, true
}

// The libraries of Linux and macOS as moduleReason has those of Windows; handlerLibraries stand above the fault.
var (
	handlerLibraries = []string{
		"libmono", "libc.so", "libc-2", "libpthread", "libsystem_", "linux-vdso", "libclrjit", "libcoreclr", "ld-linux",
	}
	driverLibraries = []string{
		"libnvidia", "libGLX_nvidia", "libEGL_nvidia", "libvulkan_", "libGLX_mesa", "libEGL_mesa", "libgallium", "amdvlk",
		"AGXMetal", "AMDRadeon", "AppleIntel", "GeForce",
	}
	engineLibraries = []string{"UnityPlayer", "GameAssembly", "libunity", "libil2cpp"}
)

// listedReason is frameReason for a frame of Windows.
func (a *assembly) listedReason(b []byte) crashReason {
	_, module, _ := bytes.Cut(b, []byte(" ("))
	name, _, ok := bytes.Cut(module, []byte(")"))
	if !ok || b[0] != '0' || len(name) == 0 || len(name) > maxPath {
		return crashUnknown
	}
	for _, ending := range [...]string{".dll", ".DLL"} {
		file := append(append([]byte(nil), name...), ending...)
		i := bytes.Index(a.message, append(append([]byte{':'}, file...), " ("...))
		if i < 0 {
			continue
		}
		path := a.message[bytes.LastIndexByte(a.message[:i], '\n')+1 : i]
		reason := moduleReason(file)
		if reason == crashLibrary && bytes.Contains(path, []byte(`:\Windows\`)) {
			return crashUnknown
		}
		return reason
	}
	return crashUnknown
}

// isReportRest reports whether b opens what follows the trace of the thread that crashed in Unity's report.
func isReportRest(b []byte) bool {
	return hasPrefix(b, "Stacks for Running Threads:") || hasPrefix(b, "Call Stack for Thread ") ||
		hasPrefix(b, "Stack Memory [0x")
}

// joinsAround decides about a line of a crash report that is not about the crash itself: everything up to a crash, to
// the end of the report, and to the log of a game.
func (a *assembly) joinsAround(b []byte, layout Layout) verdict {
	switch {
	case isCrashCause(b), layout == layoutCrash && isJSONCause(b), isBanner(b), isSignOfLife(b):
		return apart()
	case isReportEnd(b):
		a.sealed = true
	}
	return joined(partMessage, evidenceBlock)
}

// The figures of a report by which no memory was left: percent of the machine's memory in use, and megabytes left
// of the addresses of a program of 32 bits, and of the paging file.
const (
	fullMemory   = 95
	fewMegabytes = 100
)

// crashReasonOf returns the reason that b gives, a line between the cause and the registers:
//
//	97% physical memory in use.
//	2048 MB user address space [83 MB free].
//	18000 MB paging file [0 MB free].
//	System Commit Total/Limit/Peak: 14000MB/29000MB/29010MB
//	Exception Message:     Thread stack size exceeded due to excessive recursion
func crashReasonOf(b []byte) crashReason {
	memory := false
	switch n, rest := number(b); {
	case hasPrefix(rest, "% physical memory in use"), hasPrefix(rest, "% memory in use"):
		memory = n >= fullMemory
	case hasPrefix(rest, " MB paging file ["):
		free, unit := number(rest[len(" MB paging file ["):])
		memory = n > 0 && free < fewMegabytes && hasPrefix(unit, " MB free")
	case hasPrefix(rest, " MB user address space ["):
		free, unit := number(rest[len(" MB user address space ["):])
		memory = free < fewMegabytes && hasPrefix(unit, " MB free")
	case hasPrefix(b, "System Commit Total/Limit/Peak: "):
		_, rest := number(b[len("System Commit Total/Limit/Peak: "):])
		limit, rest := number(bytes.TrimPrefix(rest, []byte("MB/")))
		peak, rest := number(bytes.TrimPrefix(rest, []byte("MB/")))
		memory = limit > 0 && peak >= limit && hasPrefix(rest, "MB")
	case bytes.Contains(b, []byte("Thread stack size exceeded")), hasPrefix(b, "-->  STACK GUARD"),
		hasPrefix(b, "--->  STACK GUARD"):
		return crashStack
	}
	if memory {
		return crashMemory
	}
	return crashUnknown
}

// number returns the number that b begins with, 0 for none, and what follows.
func number(b []byte) (n int, rest []byte) {
	const most = 1 << 40
	for len(b) > 0 && isDigit(b[0]) {
		n, b = min(10*n+int(b[0]-'0'), most), b[1:]
	}
	return n, b
}

// causeReason returns the reason that b gives, the line with the cause: the name of the code, or the module.
func causeReason(b []byte) crashReason {
	module, code, ok := bytes.Cut(b, []byte(" caused a"))
	if !ok {
		return crashUnknown
	}
	switch {
	case hasPrefix(code, " Stack Overflow ("), hasSuffix(code, "(0xc00000fd)"), hasSuffix(code, "(0xC00000FD)"):
		return crashStack
	case hasPrefix(code, " No Memory ("), hasSuffix(code, "(0xc0000017)"), hasSuffix(code, "(0xC0000017)"):
		return crashMemory
	}
	return moduleReason(module)
}

// moduleReason returns the reason that the name of the module gives in which a game crashed.
func moduleReason(module []byte) crashReason {
	module = bytes.ToLower(module[:min(len(module), maxPath)])
	switch {
	case hasAnyPrefix(module, driverModules):
		return crashDriver
	case hasAnyPrefix(module, engineModules):
		return crashUnknown
	case hasSuffix(module, ".dll"), hasSuffix(module, ".acm"), hasSuffix(module, ".asi"), hasSuffix(module, ".drv"):
		return crashLibrary
	}
	return crashUnknown
}

// driverModules are modules of the drivers of graphics cards, and of the system's part of them, by their beginnings;
// engineModules those of the engine, of its runtimes and of the system: that a game crashed there does not say why.
var (
	driverModules = []string{
		"nvwgf", "nvogl", "nvd3d", "nvldumd", "nvgpucomp", "nvapi", "nvcuda", "nvcamera", "nvrtum",
		"atidxx", "aticfx", "atio6axx", "atiogl", "atiumd", "atigl", "amdxx", "amdxc", "amdxn", "amdvlk", "amdihk",
		"igd10", "igd12", "igdumd", "igdgmm", "igdusc", "igc32", "igc64", "ig4", "ig7", "ig8", "ig9", "ig11", "ig12",
		"igvk", "igxel", "d3d9", "d3d10", "d3d11", "d3d12", "dxgi", "opengl32", "vulkan-1",
	}
	engineModules = []string{
		"unityplayer", "mono.", "mono-2.0", "monoposixhelper", "gameassembly", "baselib", "il2cpp", "clr.", "coreclr",
		"ntdll", "kernel32", "kernelbase", "ucrtbase", "msvc", "vcruntime", "user32", "win32u", "combase", "rpcrt4", "wow64",
		"gdi32", "ole32", "oleaut32", "shell32", "shlwapi", "advapi32", "sechost", "ws2_32", "mswsock", "crypt32", "bcrypt",
		"winhttp", "wininet", "winmm", "comctl32", "dbghelp", "setupapi", "imm32", "msctf", "uxtheme", "dwmapi",
		"audioses", "mmdevapi", "dsound", "xaudio", "xinput", "hid.", "textinput", "coremessaging", "coreui", "windows.",
	}
)

func hasAnyPrefix(b []byte, of []string) bool {
	return slices.ContainsFunc(of, func(s string) bool { return hasPrefix(b, s) })
}

// isMacDriver reports whether b, a frame of a report on macOS, is code of a driver of the graphics card:
//
//	0   AGXMetalG13X                  	0x0000000104b1c2e3 0x104000000 + 11649763
func isMacDriver(b []byte) bool {
	_, module, _ := bytes.Cut(b, []byte(" "))
	return hasAnyPrefix(trimLeft(module), []string{
		"AGXMetal", "AMDRadeon", "AMDMTL", "com.apple.AMDRadeon", "com.apple.AMDMTL", "AppleIntel", "com.apple.driver.AppleIntel",
		"GeForce", "com.apple.GeForce", "AppleMetal", "libGPUSupport", "com.apple.AGXMetal",
	})
}
