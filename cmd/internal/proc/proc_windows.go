package proc

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a job object that ends with its last handle, which is ours.
type tree struct {
	job  windows.Handle
	exit Exit // zero: how the others ended is not known
}

// start creates the process suspended, so that it cannot start another one before
// it is in the job.
func (t *tree) start(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return os.NewSyscallError("CreateJobObject", err)
	}
	t.job = job
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		t.close()
		return os.NewSyscallError("SetInformationJobObject", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED}
	if err = cmd.Start(); err == nil {
		if err = t.admit(uint32(cmd.Process.Pid)); err == nil {
			return nil
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	t.close()
	return err
}

// resumeProcess lets all threads of a suspended process run.
var resumeProcess = windows.NewLazySystemDLL("ntdll.dll").NewProc("NtResumeProcess")

// admit puts a suspended process into the job and lets it run.
func (t *tree) admit(pid uint32) error {
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_SUSPEND_RESUME
	process, err := windows.OpenProcess(access, false, pid)
	if err != nil {
		return os.NewSyscallError("OpenProcess", err)
	}
	defer windows.CloseHandle(process)
	if err := windows.AssignProcessToJobObject(t.job, process); err != nil {
		return os.NewSyscallError("AssignProcessToJobObject", err)
	}
	if status, _, _ := resumeProcess.Call(uintptr(process)); status != 0 {
		return os.NewSyscallError("NtResumeProcess", windows.NTStatus(status))
	}
	return nil
}

var errSignal = errors.New("proc: Windows cannot send signals to another process")

func (t *tree) signal(os.Signal, string) error { return errSignal }

func (t *tree) pass(os.Signal) error { return errSignal }

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, which x/sys does not have.
type accounting struct {
	TotalUserTime, TotalKernelTime, ThisPeriodTotalUserTime, ThisPeriodTotalKernelTime int64
	TotalPageFaultCount, TotalProcesses, ActiveProcesses, TotalTerminatedProcesses     uint32
}

// basicAccounting is JobObjectBasicAccountingInformation.
const basicAccounting = 1

func (t *tree) alive(string) bool {
	var a accounting
	err := windows.QueryInformationJobObject(t.job, basicAccounting, uintptr(unsafe.Pointer(&a)),
		uint32(unsafe.Sizeof(a)), nil)
	return err == nil && a.ActiveProcesses > 0
}

func (t *tree) kill(string) {
	_ = windows.TerminateJobObject(t.job, 1) // it may be empty
}

func (t *tree) close() { _ = windows.CloseHandle(t.job) }

func exitOf(s *os.ProcessState) Exit { return Exit{Code: s.ExitCode()} }

// crashes are the statuses by which processes crash, NTSTATUS values of severity error, and their meaning.
var crashes = map[uint32]string{
	0xC0000005: "access violation",
	0xC000001D: "illegal instruction",
	0xC0000094: "division by zero",
	0xC00000FD: "stack overflow",
	0xC0000374: "heap corruption",
	0xC0000409: "aborted by a security check",
	0xC0000135: "a library was not found",
	0xC0000142: "a library could not be started",
}

// statusControlC is the status of a process that ended by Ctrl-C.
const statusControlC = 0xC000013A

// Crashed reports whether the status is one by which the system ends a process for a fault of its own.
func (e Exit) Crashed() bool { return uint32(e.Code)>>28 == 0xC && uint32(e.Code) != statusControlC }

// cause names the fault, "" for none.
func (e Exit) cause() string {
	if !e.Crashed() {
		return ""
	}
	return cmp.Or(crashes[uint32(e.Code)], "an exception")
}

func (e Exit) status() string {
	if code := uint32(e.Code); code > 0xFFFF {
		return fmt.Sprintf("0x%08X", code)
	}
	return strconv.Itoa(e.Code)
}

// guard is not needed: the kernel ends the job with the holder.
type guard struct{}

func startGuard() (*guard, error) { return nil, nil } //nolint:nilnil // see above

func (g *guard) watch(int, string) {}

func (g *guard) release() {}
