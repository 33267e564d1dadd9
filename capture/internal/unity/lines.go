package unity

// Lines are beginnings of lines that only the engine, or a game on it, writes.
type Lines struct {
	Own    []string // at the start and between levels, in every log
	Opens  []string // of a record, in any place
	Below  []string // below the first line of a record
	Apart  []string // below that line, also below a blank line
	Alive  []string // while the program has not crashed
	Crash  []string // at the beginning of the report of a native crash, but for CrashMark
	Shows  []string // in a log whose beginning shows no layout
	Memory []string // in the statistics of memory
	Logs   []string // classes whose methods log
	Faults []string // first words of reports of faults
}

// Engine has the lines of the engine. "Caught fatal signal" is of Linux, "Receiving unhandled NULL exception" of macOS;
// "OUTPUTING" has one T before 2018; Mono writes "Native stacktrace" before 2018, and aborts after "Assertion".
var Engine = Lines{
	Own: []string{
		"<RI> ", "- Completed reload", "- Loaded All Assemblies", "- Finished resetting", "Begin MonoManager",
		"Command line arguments:", "Fallback handler ", "GfxDevice: ", BannerVersion, "Mono path[", "Mono config path",
		MemoryStart, "Setting up ", "Unloading ", "UnloadTime: ",
	},
	Opens: []string{"Failed to "},
	Below: []string{
		"StackTrace:", "Stack trace:", "Stack Trace:", "Trying to allocate: ",
		"This message has been deprecated and will be removed in a later version of Unity",
		"Add a delegate to SceneManager.sceneLoaded", "Allocation happened at: ", "Memory overview",
		"Constructors and field initializers will be executed from the loading thread",
		"Don't use this function in the constructor or field initializers",
		"Your script should either check if it is null or you should not destroy the object",
		"with error:", // below "dlopen failed trying to load:" and a path
		"[ ALLOC_",
	},
	Crash: []string{
		"A crash has been intercepted by the crash handler", "Caught fatal signal - signo:", "Debug info from gdb:",
		"Received signal SIG", "Receiving unhandled NULL exception", "Native stacktrace:",
		"========== OUTPUTTING STACK TRACE", "========== OUTPUTING STACK TRACE", "* Assertion at ",
		"* Assertion: should not be reached at ",
	},
	Shows:  []string{"Fallback handler could not load library ", "GfxDevice: ", "<RI> Init", SymbolsStart},
	Apart:  []string{"Note: Creation of internal variant of shader ", "ShaderProgram is unsupported, "},
	Memory: []string{"[ALLOC_", "[ ALLOC_", "Allocation happened at: ", "Memory overview", "Trying to allocate: "},
	Logs:   []string{"UnityEngine.Debug"},
	Faults: []string{
		"Failed", "Unable", "Cannot", "Can't", "Invalid", "Fatal", "Assertion", "GC", "WARNING:", "Warning:", "ERROR:",
		"Plugins:", "Metal:", "d3d11:", "d3d12:", "Vulkan:",
	},
}

// Beginnings of the first lines of sections: the statistics of allocators that Unity 2022 prints when it exits; the
// report that it got no memory, with statistics below it; the list of modules that it prints on Windows when it walks
// a native stack for the first time, in a crash report, but also in a run that continues.
const (
	MemoryStart  = "Memory Statistics:"
	MemoryEnd    = "Could not allocate memory: System out of memory!"
	SymbolsStart = "SymInit: Symbol-SearchPath: "
)

// CrashMark is the first line of the report of a crash on Windows. SymbolsStart is the next line.
const CrashMark = "Crash!!!"
