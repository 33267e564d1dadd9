package testkit_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// asEnv makes this test binary tests that are killed, or a program that such tests start.
const asEnv = "END_AS"

func TestMain(m *testing.M) {
	as := os.Getenv(asEnv)
	if as == "" {
		m.Run()
		return
	}
	if as == "tests" {
		program := exec.Command(os.Args[0])
		program.Env = append(os.Environ(), asEnv+"=program")
		if err := program.Start(); err != nil {
			panic(err)
		}
		fmt.Println(program.Process.Pid)
	}
	time.Sleep(time.Minute)
}

// TestProgramsEndWithTests holds that a program that tests have started ends with them, also if they are killed.
func TestProgramsEndWithTests(t *testing.T) {
	tests := exec.Command(os.Args[0])
	tests.Env = append(os.Environ(), "TESTS_PID=", asEnv+"=tests") // of their own
	out, err := tests.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, tests.Start())
	var program int
	_, err = fmt.Fscan(bufio.NewReader(out), &program)
	require.NoError(t, err)
	require.NoError(t, tests.Process.Kill())
	_ = tests.Wait()
	testkit.Gone(t, program, 10*time.Second)
}
