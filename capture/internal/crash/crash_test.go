package crash

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReason holds the reasons that lines of a report give.
func TestReason(t *testing.T) {
	table := func(f func(string) Reason, want Reason, lines ...string) {
		for _, s := range lines {
			require.Equal(t, want, f(s), "%q", s)
		}
	}
	table(CauseReason, Unknown, "Unknown caused a Breakpoint (0x80000003)", "mono-2.0-bdwgc.dll caused an Access Violation (0xc0000005)",
		"UnityPlayer.dll caused an In Page Error (0xc0000006)", "Press.exe caused an Access Violation (0xc0000005)",
		"KERNELBASE.dll caused a Microsoft C++ Exception (0xe06d7363)", "Exception Type:        EXC_CRASH (SIGABRT)")
	table(CauseReason, stack, "Unknown caused a Stack Overflow (0xc00000fd)")
	table(CauseReason, memory, "UnityPlayer.dll caused a No Memory (0xc0000017)")
	table(CauseReason, driver, "nvwgf2umx.dll caused an Access Violation (0xc0000005)",
		"atidxx64.dll caused an Illegal Instruction (0xc000001d)")
	table(CauseReason, library, "widgets.DLL caused an Access Violation (0xc0000005)",
		"ignition.dll caused a Breakpoint (0x80000003)")
	table(TextReason, memory, "97% physical memory in use.", "100% memory in use.",
		"2048 MB user address space [83 MB free].", "18000 MB paging file [0 MB free].",
		"System Commit Total/Limit/Peak: 14000MB/29000MB/29010MB")
	table(TextReason, Unknown, "47% physical memory in use.", "197 items in use.", "2048 MB user address space [830 MB free].",
		"2048 MB user address space [1", "0 MB paging file [0 MB free].", "System Commit Total/Limit/Peak: 14000MB/29000MB/2901MB",
		"System Commit Total/Limit/Peak: 14000MB/29000MB/2900099", "System Commit Total/Limit/Peak: 0MB/0MB/0MB",
		"16000 MB physical memory [78 MB free].", "99999999999999999999999999% of it")
	table(TextReason, stack, "Exception Message:     Thread stack size exceeded due to excessive recursion",
		"--->  STACK GUARD              70000f000000-70000f001000 [    4K]")
}

// TestIsCause holds the lines that name the cause of a crash.
func TestIsCause(t *testing.T) {
	for _, s := range []string{
		"mono-2.0-bdwgc.dll caused an Access Violation (0xc0000005)", "Unknown caused a Breakpoint (0x80000003)", "Some Game.exe caused an In Page Error (0xC0000006)",
		"Exception Type:  EXC_CRASH (SIGABRT)", "Exception Type: EXC_CRASH (SIGABRT) Exception Codes: 0x0",
	} {
		require.True(t, IsCause(s), s)
	}
	for _, s := range []string{
		")", "E", "(0xc0000005)", "Widgets caused a stir (0x1234)", "Widgets caused a stir (twelve....)",
		"Read from location 0000000000000018 caused an access violation.", "Widgets caused alarm (0xc0000005)",
		"raise (0xc0000005)", "Exception Type: Widgets.Stuck", "Exception Type:  EXC", strings.Repeat("x", 1000) + " caused a Breakpoint (0x80000003)",
	} {
		require.False(t, IsCause(s), s)
	}
}
