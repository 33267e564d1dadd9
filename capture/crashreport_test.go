package capture

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// crashReport is a report as Unity writes it on Windows, with so many other threads.
func crashReport(threads int) string {
	var b strings.Builder
	b.WriteString(doc(
		`Press of Some Company [version: Unity 2031.2.3f1_0123456789ab]`, ``,
		`mono-2.0-bdwgc.dll caused an Access Violation (0xc0000005)`,
		`  in module mono-2.0-bdwgc.dll at 0033:1122aabb.`, ``,
		`Error occurred at 2031-04-05_101112.`,
		`D:\Games\Press\PressWin64.exe, run by somebody.`, ``,
		`51% physical memory in use.`,
		`16000 MB physical memory [7800 MB free].`,
		`System Commit Total/Limit/Peak: 14000MB/29000MB/19000MB`, ``,
		`Read from location 0000000000000018 caused an access violation.`, ``,
		`Context:`,
		`RDI:    0x0000000000000000  RSI: 0x000000000000e440  RAX:   0x0000000000000000`, ``,
		`Bytes at CS:EIP:`,
		`cc 8b 0d 3e 32 9d 00 ff 15 e8 25 67 00 8b 0d 32 `, ``,
		`Stack Trace of Crashed Thread 42:`,
		`0x00007FF0DECADE00 (mono-2.0-bdwgc) mono_object_isinst`,
		`  ERROR: SymGetSymFromAddr64, GetLastError: 'Nope.' (Address: 00007FF0DECADE08)`,
		`0x000001D2A0C413E0 (Mono JIT Code) (wrapper dynamic-method) Press.Roller:Turn_Patch1 (Press.Roller,int)`,
		`0x000001D2A0C413F0 (Mono JIT Code) Some.Mod.Gears:Spin (object)`, ``,
		`Stacks for Running Threads:`, ``))
	for i := range threads {
		b.WriteString(doc(fmt.Sprintf("Call Stack for Thread %d:", 100+i),
			`0x000001D2A0C40000 (Mono JIT Code) Other.Mod.Worker:Loop ()`, ``, ``))
	}
	b.WriteString(doc(`Stack Memory [0x000000000000E280-0x0000000000080000]:`, `0x0000E280: 00 11 22 33 44 ........`, ``,
		`Module 1`, `C:\Windows\SYSTEM32\ntdll.dll`, ``, `== [end of error.log] ==`))
	return b.String()
}

const (
	crashCause = "mono-2.0-bdwgc.dll caused an Access Violation (0xc0000005)"
	crashAbout = crashCause + "\n" +
		"  in module mono-2.0-bdwgc.dll at 0033:1122aabb.\n\nError occurred at 2031-04-05_101112.\n" +
		`D:\Games\Press\PressWin64.exe, run by somebody.` + "\n\n" +
		"51% physical memory in use.\n16000 MB physical memory [7800 MB free].\n" +
		"System Commit Total/Limit/Peak: 14000MB/29000MB/19000MB\n\n" +
		"Read from location 0000000000000018 caused an access violation."
	crashTrace = "0x00007FF0DECADE00 (mono-2.0-bdwgc) mono_object_isinst\n" +
		"0x000001D2A0C413E0 (Mono JIT Code) (wrapper dynamic-method) Press.Roller:Turn_Patch1 (Press.Roller,int)\n" +
		"0x000001D2A0C413F0 (Mono JIT Code) Some.Mod.Gears:Spin (object)"
)

func TestCrashReport(t *testing.T) {
	whole := crashReport(3)
	for name, in := range map[string]string{
		"as written":        whole,
		"windows":           strings.ReplaceAll(whole, "\n", "\r\n"),
		"with a mark":       byteOrderMark + whole,
		"without its head":  whole[strings.Index(whole, crashCause):],
		"without its end":   whole[:strings.Index(whole, "Stack Memory")],
		"below a player's":  unity2022_3 + "Panel opened\n" + whole,
		"below plain text":  "my crash:\n\n" + strings.Repeat("nothing to see\n", 40) + whole,
		"and the log below": whole + unity2022_3 + "Panel opened\n",
		"below another":     whole + whole,
		"many threads":      crashReport(10_000),
	} {
		t.Run(name, func(t *testing.T) {
			recs, r := read(t, strings.NewReader(in), Options{})
			requireCovers(t, in, recs)
			crashes := 0
			for i := range recs {
				if recs[i].Level != event.LevelFatal {
					require.Empty(t, recs[i].Stack, "only the thread that crashed has a trace")
					require.NotEqual(t, event.LevelError, recs[i].Level)
					continue
				}
				crashes++
				require.Equal(t, crashAbout, recs[i].Message)
				require.Equal(t, crashTrace, recs[i].Stack)
				require.Equal(t, "crash", recs[i].Source)
				require.Equal(t, evidenceCrash, recs[i].LevelBy)
				require.False(t, recs[i].Context)
			}
			if name == "below another" {
				crashes--
			}
			require.Equal(t, 1, crashes)
			if name != "below a player's" && name != "below plain text" && name != "and the log below" {
				require.Equal(t, "crash-report", r.At().Layout.String())
				for i := range recs {
					require.True(t, recs[i].Context || recs[i].Level == event.LevelFatal, "%q", recs[i].Message)
				}
			}
			if name == "and the log below" {
				last := recs[len(recs)-1]
				require.Equal(t, "Panel opened", last.Message)
				require.Equal(t, layoutUnity2022_3, last.Layout)
			}
		})
	}
}

// TestCrashReportEndsAnywhere cuts a report at every byte.
func TestCrashReportEndsAnywhere(t *testing.T) {
	whole := crashReport(1)
	begun := strings.Index(whole, crashCause) + len(crashCause)
	for n := range len(whole) {
		in := whole[:n]
		recs := covered(t, in)
		fatal := 0
		for i := range recs {
			if recs[i].Level == event.LevelFatal {
				fatal++
			}
		}
		if n >= begun {
			require.Equal(t, 1, fatal, "cut at %d", n)
		}
	}
}

func TestCrashReportOfMacOS(t *testing.T) {
	const about = "Exception Type:        EXC_BAD_ACCESS (SIGSEGV)\n" +
		"Exception Codes:       KERN_INVALID_ADDRESS at 0x0000000000000018\n\n" +
		"Application Specific Information:\nabort() called"
	head := doc(`Process:               Press [1234]`, `Path:                  /Applications/Press.app/Contents/MacOS/Press`, ``,
		`Crashed Thread:        1  Worker`, ``) + about + "\n\n"
	other := doc(`Thread 0:: Dispatch queue: com.apple.main-thread`,
		"0   libsystem_kernel.dylib        \t0x00007fff5d574236 semaphore_wait_trap + 10", ``)
	crashed := doc(`Thread 1 Crashed:: Worker`,
		"0   UnityPlayer.dylib             \t0x0000000104b1c2e3 0x104000000 + 11649763",
		"1   ???                           \t0x0000000145c1c2e3 0 + 5465293539", ``)
	rest := doc(`Thread 2:`, "0   libsystem_kernel.dylib        \t0x00007fff5d574236 __psynch_cvwait + 10", ``,
		`Thread 1 crashed with X86 Thread State (64-bit):`, `  rax: 0x0000000000000000`, ``, `Binary Images:`,
		`       0x104be1000 -        0x105c1afeb UnityPlayer.dylib (*) <00> /Applications/UnityPlayer.dylib`)
	in := "-------------------------------------\nTranslated Report (Full Report Below)\n" +
		"-------------------------------------\n\n" + head + other + crashed + rest
	recs, r := read(t, strings.NewReader(in), Options{})
	requireCovers(t, in, recs)
	require.Equal(t, layoutCrash, r.At().Layout)
	require.Len(t, recs, 3)
	require.True(t, recs[0].Context)
	require.Equal(t, about, recs[1].Message)
	require.Equal(t, strings.TrimSpace(crashed[strings.IndexByte(crashed, '\n'):]), recs[1].Stack)
	require.Equal(t, event.LevelFatal, recs[1].Level)
	require.True(t, recs[2].Context)

	driver := strings.Replace(crashed, "UnityPlayer.dylib ", "AGXMetalG13X      ", 1)
	recs = records(t, head+driver)
	require.Equal(t, "crash-driver", recs[1].Source)

	in = doc(`{"app_name":"Press","timestamp":"2031-04-05 10:11:12.00 +0000","app_version":"1.2","bug_type":"309"}`, `{`,
		`  "uptime" : 1000,`, `  "exception" : {"codes":"0x0000000000000001, 0x0000000000000018","type":"EXC_BAD_ACCESS","signal":"SIGSEGV"},`,
		`  "faultingThread" : 1,`, `  "threads" : [{"id":1,"frames":[{"imageOffset":1,"imageIndex":0}]},`, `  ]`, `}`)
	recs, r = read(t, strings.NewReader(in), Options{})
	requireCovers(t, in, recs)
	require.Equal(t, layoutCrash, r.At().Layout)
	require.Len(t, recs, 3)
	require.Equal(t, event.LevelFatal, recs[1].Level)
	require.Contains(t, recs[1].Message, `"signal":"SIGSEGV"`)
}

// TestNotACrashReport reads texts with the look of one.
func TestNotACrashReport(t *testing.T) {
	for _, in := range []string{
		"Process: started [1]\nwork\nwork\nException Type\n",
		"Process: started [1]\nwork\nwork\n",
		"Press [version: Unity 2031.2.3f1]\nwork\n",
		"a\nb\nc\nException Type:        EXC_BAD_ACCESS (SIGSEGV)\n",
		"{\"app_name\":\"x\",\"bug_type\":\"1\"}\n{\"msg\":\"y\"}\n",
	} {
		_, r := read(t, strings.NewReader(in), Options{})
		require.NotEqual(t, layoutCrash, r.At().Layout, "%q", in)
	}
}

func TestCrashReportFacts(t *testing.T) {
	e := observed(t, crashReport(1))
	require.Equal(t, Facts{Engine: "Unity 2031.2.3f1", Platform: "Windows", Memory: "16000 MB"}, e.Facts())
	require.Equal(t, "press", e.start.Program())
	e = observed(t, doc("Process:               Press [1234]", "OS Version:            macOS 13.1 (22C65)",
		"Exception Type:        EXC_BAD_ACCESS (SIGSEGV)"))
	require.Equal(t, Facts{System: "macOS 13.1 (22C65)", Platform: "macOS"}, e.Facts())
	require.Equal(t, "press", e.start.Program())
}

// TestCrashOfOneThread reads logs in which a debugger printed all threads, or Unity the modules.
func TestCrashOfOneThread(t *testing.T) {
	const own, other = "#1  0x007f39f1a0c2e3 in Some.Mod.Gears:Spin (object)", "#1  0x007f39f1a0c2e4 in Other.Mod.Worker:Loop ()"
	crash := func(lines ...string) Record {
		in := unity2022_3 + doc(lines...)
		recs := covered(t, in)
		last := recs[len(recs)-1]
		require.Equal(t, event.LevelFatal, last.Level)
		return last
	}
	r := crash("Caught fatal signal - signo:11 code:1 errno:0 addr:0x8", "Obtained 2 stack frames.", own,
		"Thread 2 (Thread 0x7f3a5c7fe700 (LWP 4242)):", other, "Thread 1 (Thread 0x7f3a5c7fe701 (LWP 4241)):", own,
		"Thread 3 (Thread 0x7f3a5c7fe702 (LWP 4243)):", other, "\tManaged Stacktrace:", "\t  at Some.Mod.Gears:Spin <0x00113>")
	require.Equal(t, own+"\n"+own+"\n\t  at Some.Mod.Gears:Spin <0x00113>", r.Stack)
	require.Contains(t, r.Message, other)
	require.Empty(t, r.Source)
	r = crash("Got a SIGSEGV while executing native code. This usually indicates", "* thread #1, name = 'main'", own,
		"  thread #2, name = 'Worker'", other)
	require.Equal(t, own, r.Stack)

	for path, want := range map[string]string{
		"./linux64/widgets.so": "crash-library", "/usr/lib/libGLX_nvidia.so.0": "crash-driver", "/usr/lib/libz.so.1": "",
		"/opt/press/UnityPlayer.so": "", "Unknown": "", "/opt/press/press.x86_64": "", "/opt/press/libwidgets.dylib": "crash-library",
	} {
		r := crash("Got a SIGSEGV while executing native code. This usually indicates", "\t0x7f3a5c9e8d05 - /opt/press/libmonobdwgc-2.0.so : ",
			"\t0x7f3a5c442520 - /lib/x86_64-linux-gnu/libc.so.6 : ", "\t0x7f3a5c442524 - "+path+" : ",
			"\t0x7f3a5c442528 - ./linux64/other.so : ")
		require.Equal(t, want, r.Source, path)
	}

	modules := []string{
		"Crash!!!", "SymInit: Symbol-SearchPath: '.;'",
		`D:\Press\PressWin64.exe:PressWin64.exe (00007FF0DECA0000), size: 4096 (result: 0), SymType: '-deferred-', PDB: ''`,
		`D:\Press\UnityPlayer.dll:UnityPlayer.dll (00007FF0DECB0000), size: 4096 (result: 0), SymType: '-deferred-', PDB: ''`,
		`C:\Windows\System32\DriverStore\nvwgf2umx.dll:nvwgf2umx.dll (00007FF0DECC0000), size: 4096 (result: 0), SymType: '', PDB: ''`,
		`C:\Windows\System32\odd.dll:odd.dll (00007FF0DECC0000), size: 4096 (result: 0), SymType: '', PDB: ''`,
		`D:\Press\Mods\widgets.DLL:widgets.DLL (00007FF0DECD0000), size: 4096 (result: 0), SymType: '-deferred-', PDB: ''`, "",
		"========== OUTPUTTING STACK TRACE ==================", "",
	}
	for module, want := range map[string]string{
		"nvwgf2umx": "crash-driver", "widgets": "crash-library", "UnityPlayer": "", "odd": "", "PressWin64": "", "Mono JIT Code": "", "absent": "",
	} {
		r := crash(append(slices.Clip(modules), "0x00007FF0DECADE00 ("+module+") f", "0x00007FF0DECADE00 (widgets) g")...)
		require.Equal(t, want, r.Source, module)
	}
}

func TestOutOfMemory(t *testing.T) {
	in := unity2019_4 + doc("Could not allocate memory: System out of memory!", "Trying to allocate: 715827884B with 16 alignment. MemoryLabel: NewDelete",
		"Allocation happened at: Line:0 in Overloaded New[]", "Memory overview", "", "[ ALLOC_TEMP_THREAD ] used: 33008B | peak: 0B | reserved: 4063232B ",
		" ", footer, "", "Panel opened")
	recs := covered(t, in)
	require.Equal(t, "Panel opened", recs[len(recs)-1].Message)
	require.Contains(t, recs[len(recs)-2].Message, "System out of memory!")
	require.Contains(t, recs[len(recs)-2].Message, "ALLOC_TEMP_THREAD")
}
