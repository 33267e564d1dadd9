// Package crash knows reports of crashes: files that Unity's handler on Windows writes (error.log), and that macOS
// writes (.crash, and .ips as text or as JSON). Functions see one line, which is not empty, without its end.
//
//	Press of Some Company [version: Unity 2031.2.3f1_0123456789ab]
//	nvwgf2umx.dll caused an Access Violation (0xc0000005)
//	Stack Trace of Crashed Thread 6708:
package crash

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/capture/internal/begins"
)

// Reason is the reason of a crash as a report gives it, the weaker first.
type Reason uint8

// Reasons of a crash.
const (
	Unknown Reason = iota
	library        // in a library that is neither the engine's nor the system's
	driver         // in a driver of the graphics card
	memory         // no memory was left
	stack          // a stack overflowed
)

// Source returns the source of the record of a crash, by which rules distinguish reasons.
func (r Reason) Source() string {
	return [...]string{"crash", "crash-library", "crash-driver", "crash-memory", "crash-stack"}[r]
}

// IsHead reports whether b is the line with which a crash report opens:
//
//	Press of Some Company [version: Unity 2031.2.3f1_0123456789ab]
//	Process:               Press [1234]
//	Incident Identifier: 5EED0000-0000-0000-0000-000000000001
//	Translated Report (Full Report Below)
//	{"app_name":"Press", … "bug_type":"309", … }
func IsHead(b string) bool {
	return begins.Any(b, "Translated Report (Full Report Below)", "Incident Identifier: ") ||
		(strings.HasPrefix(b, "Process: ") || strings.Contains(b, " [version: Unity ")) && strings.HasSuffix(trim(b), "]") ||
		b[0] == '{' && strings.Contains(b, `"app_name":"`) && strings.Contains(b, `"bug_type":"`)
}

// IsCause reports whether b is the line that names the cause of a crash:
//
//	UnityPlayer.dll caused an Access Violation (0xc0000005)
//	Exception Type:        EXC_BAD_ACCESS (SIGSEGV)
func IsCause(b string) bool {
	if rest, ok := strings.CutPrefix(b, "Exception Type: "); ok {
		return strings.HasPrefix(trim(rest), "EXC_")
	}
	at := len(b) - len("(0x00000000)")
	return at > 0 && strings.HasPrefix(b[at:], "(0x") && len(b) <= 2*maxPath && cause.MatchString(b)
}

var cause = regexp.MustCompile(`^.+ caused an? .*\(0x[[:xdigit:]]{8}\)$`)

// maxPath is how long the name of a module may be on Windows.
const maxPath = 260

// IsJSONCause reports whether b is the line with which a report on macOS as JSON names the cause of a crash. It
// counts in a crash report only.
//
//	"exception" : {"codes":"0x0000000000000001, 0x0000000000000000", … "type":"EXC_BAD_ACCESS","signal":"SIGSEGV"},
func IsJSONCause(b string) bool { return strings.HasPrefix(trim(b), `"exception" : {`) }

// IsEnd reports whether b is the last line of Unity's crash report.
func IsEnd(b string) bool { return strings.HasPrefix(b, "== [end of error.log] ==") }

// Rest has the beginnings of lines that open the part below the trace of the thread that crashed in Unity's report.
var Rest = [...]string{"Stacks for Running Threads:", "Call Stack for Thread ", "Stack Memory [0x"}

// ThreadTitle reports whether b heads the trace of a thread, and whether that thread crashed:
//
//	Stack Trace of Crashed Thread 6708:
//	========== OUTPUTTING STACK TRACE ==================
//	Thread 0 Crashed:: Dispatch queue: com.apple.main-thread
//	Stacks for Running Threads:
//	Call Stack for Thread 10700:
//	Thread 3:: tid_307
func ThreadTitle(b string) (crashed, ok bool) {
	crashed = crashedTitle.MatchString(b)
	return crashed, crashed || otherTitle.MatchString(b)
}

// The titles of the trace of the thread that crashed, and of another one. "OUTPUTING" has one T before 2018.
var (
	crashedTitle = regexp.MustCompile(
		`^(?:=+ OUTPUTT?ING STACK TRACE|Stack Trace of Crashed Thread |Thread \d+ Crashed)`)
	otherTitle = regexp.MustCompile(
		`^(?:Context:|Stacks for Running Threads:|Call Stack for Thread |Thread \d+(?::| name:| \())`)
)

// Leaves reports whether b, in a crash report, is about neither the crash nor the thread that crashed.
func Leaves(b string) bool {
	return left.MatchString(b)
}

var left = regexp.MustCompile(`^(?:Module \d|Stack Memory \[|Binary Images:|Thread .* crashed with |[ \t]*"threads" : \[)`)

// DebuggedThread reports whether b heads the trace of a thread in the output of a debugger, and whether that is the one
// that crashed; Mono prints the managed trace of that one once more, below a title of its own:
//
//	Thread 3 (Thread 0x7f3a5c7fe700 (LWP 4242)):
//	  thread #27, name = 'Worker'
//	* thread #1, queue = 'com.apple.main-thread', stop reason = signal SIGSTOP
//		Managed Stacktrace:
func DebuggedThread(b string) (crashed, ok bool) {
	if strings.HasPrefix(b, "Thread ") {
		return strings.HasPrefix(b, "Thread 1 ("), strings.Contains(b, " (Thread 0x")
	}
	t := trim(b)
	crashed = b[0] == '*' || strings.HasPrefix(t, "Managed Stacktrace:")
	return crashed, begins.Any(t, "* thread #", "Managed Stacktrace:", "thread #")
}

// TextReason returns the reason that b gives, a line between the cause and the registers:
//
//	97% physical memory in use.
//	2048 MB user address space [83 MB free].
//	18000 MB paging file [0 MB free].
//	System Commit Total/Limit/Peak: 14000MB/29000MB/29010MB
//	Exception Message:     Thread stack size exceeded due to excessive recursion
func TextReason(b string) Reason {
	_, figures, _ := strings.Cut(commit.FindString(b), "/Peak: ")
	_, figures = Number(figures)
	limit, figures := Number(strings.TrimPrefix(figures, "MB/"))
	peak, _ := Number(strings.TrimPrefix(figures, "MB/"))
	switch {
	case full.MatchString(b), limit > 0 && peak >= limit:
		return memory
	case strings.Contains(b, "Thread stack size exceeded"), begins.Any(b, "-->  STACK GUARD", "--->  STACK GUARD"):
		return stack
	}
	return Unknown
}

// The figures of a report by which no memory was left: at least 95 percent of the machine's memory are in use, less
// than 100 megabytes are left of the addresses of a program of 32 bits or of the paging file, or its peak is at its
// limit.
var (
	full = regexp.MustCompile(`^(?:(?:9[5-9]|\d{3,})% (?:physical )?memory in use` +
		`|\d+ MB user address space \[\d\d? MB free|[1-9]\d* MB paging file \[\d\d? MB free)`)
	commit = regexp.MustCompile(`^System Commit Total/Limit/Peak: \d+MB/\d+MB/\d+MB`)
)

// CauseReason returns the reason that b gives, the line with the cause: the name of the code, or the module.
func CauseReason(b string) Reason {
	module, code, ok := strings.Cut(b, " caused a")
	code = strings.ToLower(code)
	switch {
	case !ok:
		return Unknown
	case strings.HasPrefix(code, " stack overflow ("), strings.HasSuffix(code, "(0xc00000fd)"):
		return stack
	case strings.HasPrefix(code, " no memory ("), strings.HasSuffix(code, "(0xc0000017)"):
		return memory
	}
	return moduleReason(module)
}

// FrameReason returns the reason that b gives, the first frame of a report of macOS:
//
//	0   AGXMetalG13X                  	0x0000000104b1c2e3 0x104000000 + 11649763
func FrameReason(b string) Reason {
	_, module, _ := strings.Cut(b, " ")
	module = strings.TrimPrefix(strings.TrimPrefix(trim(module), "com.apple."), "driver.")
	if reason := moduleReason(module); reason == driver {
		return reason
	}
	return Unknown
}

// NativeReason returns the reason that b gives, the innermost frame of a crash, and false where the frame is of the
// handler of crashes. Whether a module of Windows is a library, and where it is, the list of modules in text says:
//
//	C:\Windows\System32\DriverStore\nvwgf2umx.dll:nvwgf2umx.dll (00007FF0DECA0000), size: 4096 (result: 0), …
//	0x00007FF0DECADE00 (nvwgf2umx) NVAPI_Thunk
//	0x7f3a5a01c9d4 - ./linux64/widgets.so :
func NativeReason(b, text string) (reason Reason, last bool) {
	if _, path, ok := strings.Cut(b, " - "); ok {
		path, _, _ = strings.Cut(path, " :")
		name := path[strings.LastIndexByte(path, '/')+1:]
		if begins.Any(name, handlers...) {
			return Unknown, false
		}
		if reason = moduleReason(name); reason == library && begins.Any(path, "/lib", "/usr/lib", "/System/") {
			reason = Unknown
		}
		return reason, true
	}
	module := inModule.FindStringSubmatch(b)
	if module == nil {
		return Unknown, true
	}
	name := module[1]
	above, _, ok := strings.Cut(text, ":"+name+".dll (")
	if !ok {
		above, _, ok = strings.Cut(text, ":"+name+".DLL (")
	}
	windows := strings.Contains(above[strings.LastIndexByte(above, '\n')+1:], `:\Windows\`)
	if reason = moduleReason(name + ".dll"); !ok || reason == library && windows {
		reason = Unknown
	}
	return reason, true
}

var inModule = regexp.MustCompile(`^0.*? \(([^)]{1,260})\)`)

// moduleReason returns the reason that the name of the module gives in which a game crashed.
func moduleReason(module string) Reason {
	module = strings.ToLower(trim(module[:min(len(module), maxPath)]))
	switch {
	case begins.Any(module, drivers...), strings.Contains(module, "_dri.so"):
		return driver
	case begins.Any(module, engines...):
		return Unknown
	case strings.Contains(module, ".so"), slices.Contains(endings, module[strings.LastIndexByte(module, '.')+1:]):
		return library
	}
	return Unknown
}

// Modules by their beginnings, on Windows, Linux and macOS: drivers belong to graphics cards, and to the system's part
// of them; engines to the engine, its runtimes and the system: a crash there does not say why.
// The handlers of crashes lie above the fault.
var (
	drivers = strings.Fields(`
		nvwgf nvogl nvd3d nvldumd nvgpucomp nvapi nvcuda nvcamera nvrtum atidxx aticfx atio6axx atiogl atiumd atigl
		amdxx amdxc amdxn amdvlk amdihk igd10 igd12 igdumd igdgmm igdusc igc32 igc64 ig4 ig7 ig8 ig9 ig11 ig12 igvk
		igxel d3d9 d3d10 d3d11 d3d12 dxgi opengl32 vulkan-1 libnvidia libglx_nvidia libegl_nvidia libvulkan_ libglx_mesa
		libegl_mesa libgallium agxmetal amdradeon amdmtl appleintel applemetal geforce libgpusupport
	`)
	engines = strings.Fields(`
		unityplayer mono. mono-2.0 monoposixhelper gameassembly baselib il2cpp clr. coreclr ntdll kernel32 kernelbase
		ucrtbase msvc vcruntime user32 win32u combase rpcrt4 wow64 gdi32 ole32 oleaut32 shell32 shlwapi advapi32 sechost
		ws2_32 mswsock crypt32 bcrypt winhttp wininet winmm comctl32 dbghelp setupapi imm32 msctf uxtheme dwmapi
		audioses mmdevapi dsound xaudio xinput hid. textinput coremessaging coreui windows. libunity libil2cpp
	`)
	handlers = strings.Fields(`
		libmono libc.so libc-2 libpthread libsystem_ linux-vdso libclrjit libcoreclr ld-linux
	`)
	endings = strings.Fields("dll acm asi drv dylib")
)

func trim(s string) string { return strings.Trim(s, " \t") }

// Number returns the number that s begins with, 0 for none, and the rest.
func Number(s string) (n int, rest string) {
	end := 0
	for end < len(s) && s[end]-'0' < 10 {
		end++
	}
	if end > 0 { // an error costs an allocation
		n, _ = strconv.Atoi(s[:end]) // at most the highest number
	}
	return n, s[end:]
}
