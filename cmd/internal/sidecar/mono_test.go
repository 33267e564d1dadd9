package sidecar_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/sidecar"
	"github.com/heedlog/heed/internal/testkit"
)

// client is the folder of Heed.cs.
const client = "../../../embed/csharp/"

// A client of a program that is this test binary, or of a game that starts it, gets a sidecar with a habit.
func init() {
	if habit := os.Getenv("HEED_STANDIN"); habit != "" {
		time.AfterFunc(4*time.Minute, func() { os.Exit(4) })
		standIn(habit)
		os.Exit(0)
	}
}

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))) // games wait, and not for the processor
	os.Exit(m.Run())
}

// standIn is a sidecar with a habit. Its input and output are those of the process.
func standIn(habit string) {
	habit, text, _ := strings.Cut(habit, ":")
	number, _ := strconv.Atoi(text)
	in := io.Reader(os.Stdin)
	serve := func(out io.Writer) { _ = sidecar.Serve(in, out, sidecar.Config{Program: "stand-in", Epoch: "e"}) }
	drain := func() { _, _ = io.Copy(io.Discard, os.Stdin) }
	switch habit {
	case "": // none
		os.Exit(sidecar.Run("heed-sidecar", nil))
	case "exits":
		os.Exit(1)
	case "hangs": // reads, and says nothing
		drain()
	case "deaf":
		select {}
	case "garbage":
		_, _ = io.CopyN(os.Stdout, rand.NewChaCha8([32]byte{1}), 1<<20)
		drain()
	case "text": // as a shell script, or a program that is not ours
		fmt.Println("This program cannot be run in DOS mode.")
		drain()
	case "future":
		_, _ = os.Stdout.Write([]byte{4, 0, 0, 0, 3, 65, 0, 0, 1, 2, 3, 4})
		drain()
	case "long": // announces what it never sends
		_, _ = os.Stdout.Write([]byte{255, 255, 255, 255, 2, 68, 0, 0, 1})
		drain()
	case "large": // as much as is allowed, slowly
		_, _ = os.Stdout.Write([]byte{0, 0, 0, 4, 2, 70, 0, 0, 1})
		drain()
	case "nonsense": // frames whose payloads are random
		r := rand.New(rand.NewPCG(uint64(number), 0))
		for range 2000 {
			payload := make([]byte, r.IntN(64))
			for i := range payload {
				payload[i] = byte(r.Uint32())
			}
			_, _ = os.Stdout.Write(append([]byte{byte(len(payload)), 0, 0, 0, 2, byte(60 + r.IntN(15)), 0, 0}, payload...))
		}
		drain()
	case "unknown": // frames of types that are not known between those that are
		serve(writerFunc(func(b []byte) (int, error) {
			unknown := []byte{3, 0, 0, 0, 2, 200, 0, 0, 'a', 'b', 'c'}
			_, err := os.Stdout.Write(slices.Concat(unknown, b, unknown))
			return len(b), err
		}))
	case "cut": // ends in the middle of what it writes
		left := number
		serve(writerFunc(func(b []byte) (int, error) {
			if left < len(b) {
				_, _ = os.Stdout.Write(b[:left])
				os.Exit(3)
			}
			left -= len(b)
			return os.Stdout.Write(b)
		}))
	case "corrupt": // changes a byte of the head, or any
		r := rand.New(rand.NewPCG(uint64(number), 1))
		serve(writerFunc(func(b []byte) (int, error) {
			b = bytes.Clone(b)
			at := r.IntN(len(b))
			if number < 8 {
				at = number
			}
			b[at] ^= byte(1 + r.IntN(255))
			return os.Stdout.Write(b)
		}))
	case "floods": // standard error
		go func() {
			for {
				fmt.Fprintln(os.Stderr, strings.Repeat("warning ", 1000))
				time.Sleep(100 * time.Microsecond)
			}
		}()
		serve(os.Stdout)
	case "deletes":
		self, _ := os.Executable()
		_ = os.Remove(self)
		serve(os.Stdout)
	case "late":
		time.Sleep(700 * time.Millisecond)
		serve(os.Stdout)
	case "sums": // holds each text to the sum at its end
		r, w := io.Pipe()
		go sums(bufio.NewReader(r))
		in = io.TeeReader(os.Stdin, w)
		serve(os.Stdout)
	default:
		panic(habit)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// heldAt makes a copy of this test binary at a path, and returns it.
func heldAt(t *testing.T, path string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	data, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o700))
	return path
}

// said is what a game wrote: the values of each name.
type said map[string][]string

func (s said) add(line string) {
	if name, value, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t"); ok {
		s[name] = append(s[name], value)
	}
}

func (s said) text(name string) string { return strings.Join(s[name], " ") }

func (s said) number(t *testing.T, name string) int {
	t.Helper()
	n, err := strconv.Atoi(s.text(name))
	require.NoError(t, err, "%s in %v", name, s)
	return n
}

// accounted requires that each line was received, or counted as missing.
func (s said) accounted(t *testing.T) {
	t.Helper()
	require.Zero(t, s.number(t, "waiting"), "%v", s)
	require.Equal(t, s.number(t, "pushed"), s.number(t, "received")+s.number(t, "dropped")+s.number(t, "lost"), "%v", s)
}

// scenario runs a scenario of faults/Game.cs with a stand-in, until it ends.
func scenario(t *testing.T, exe, scenario, program, habit string, env ...string) said {
	t.Helper()
	cmd := withHabit(testkit.Mono(t, 3*time.Minute, exe, scenario, program), habit)
	cmd.Env = append(cmd.Env, env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s\n%s", out, stderr.String())
	s := said{}
	for line := range strings.Lines(string(out)) {
		s.add(line)
	}
	return s
}

func TestFaults(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the game looks for its sidecar in /proc")
	}
	exe := testkit.CSharp(t, client+"Heed.cs", client+"HeedMore.cs", client+"faults/Game.cs")
	self, err := os.Executable()
	require.NoError(t, err)
	run := func(t *testing.T, name, program, habit string, env ...string) said {
		t.Helper()
		return scenario(t, exe, name, program, habit, env...)
	}
	t.Run("ends while threads log", func(t *testing.T) { gameEnds(t, exe, self) })
	t.Run("two games", func(t *testing.T) { twoGames(t, exe, self) })

	for _, test := range []struct {
		name, habit string
		report      string // part of what is reported; empty: nothing is, *: it may
		works       bool   // answers come
	}{
		{name: "none of it", habit: ":", works: true},
		{name: "exits at once", habit: "exits", report: "ended"},
		{name: "says nothing", habit: "hangs", report: "*"},
		{name: "reads nothing", habit: "deaf", report: "*"},
		{name: "writes garbage", habit: "garbage", report: "its output is no frame of version 2"},
		{name: "writes text", habit: "text", report: "its output is no frame of version 2"},
		{name: "of a future version", habit: "future", report: "no frame of version 2: it begins with"},
		{name: "announces too much", habit: "long", report: "its output is no frame of version 2"},
		{name: "announces much", habit: "large", report: "*"},
		{name: "nonsense", habit: "nonsense:1", report: "*"},
		{name: "unknown frames", habit: "unknown", works: true},
		{name: "floods standard error", habit: "floods", works: true},
		{name: "late", habit: "late", works: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.habit == "garbage" || test.habit == "text" || test.habit == "long" {
				testkit.Full(t, "is refused as a future version is")
			}
			t.Parallel()
			env := []string{waits(test.works)}
			if len(test.report) > 1 {
				env = append(env, "REPORTED=1") // a program takes a while to start, and to end, under load
			}
			s := run(t, "frames", self, test.habit, env...)
			harmless(t, s)
			require.Equal(t, test.works, s.text("answered") == "1", "%v", s)
			switch test.report {
			case "":
				require.Empty(t, s["report"])
				s.accounted(t)
				require.Positive(t, s.number(t, "opened"))
			case "*":
			default:
				require.Contains(t, s.text("report"), test.report)
			}
		})
	}
	t.Run("cut", func(t *testing.T) {
		testkit.Full(t, "runs a game for each of some places")
		for _, at := range []int{0, 1, 7, 8, 9, 30, 200, 1000, 5000} {
			t.Run(strconv.Itoa(at), func(t *testing.T) {
				t.Parallel()
				harmless(t, run(t, "frames", self, "cut:"+strconv.Itoa(at), waits(false)))
			})
		}
	})
	t.Run("corrupted", func(t *testing.T) {
		testkit.Full(t, "runs a game for each byte of the head, and for some seeds")
		for seed := range 16 {
			t.Run(strconv.Itoa(seed), func(t *testing.T) {
				t.Parallel()
				harmless(t, run(t, "frames", self, "corrupt:"+strconv.Itoa(seed), waits(false)))
			})
		}
	})
	t.Run("removed while it runs", func(t *testing.T) {
		t.Parallel()
		s := run(t, "frames", heldAt(t, filepath.Join(t.TempDir(), "heed-sidecar")), "deletes", waits(true))
		harmless(t, s)
		require.Equal(t, "1", s.text("answered"), "%v", s)
	})
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		s := run(t, "killed", self, ":")
		s.accounted(t)
		require.Positive(t, s.number(t, "lost"))
		require.Equal(t, "1", s.text("restarts"))
		require.Equal(t, "1", s.text("gap"), "the engine does not know of the gap")
		require.Equal(t, "0", s.text("acknowledged is open"))
		require.Equal(t, "1", s.text("open acked"))
		require.Equal(t, "1", s.text("after acked"))
		require.NotContains(t, []string{s.text("acknowledged"), s.text("open"), s.text("after")}, s.text("last"))
	})
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		s := run(t, "stopped", self, ":")
		s.accounted(t)
		require.GreaterOrEqual(t, s.number(t, "dropped"), 1000)
		require.Less(t, s.number(t, "slowest line ms"), 10_000)
		require.Equal(t, "1", s.text("gap"))
		require.Equal(t, "0", s.text("restarts"))
	})
	t.Run("odd arguments", func(t *testing.T) {
		t.Parallel()
		s := run(t, "arguments", self, ":")
		s.accounted(t)
		require.Empty(t, s["report"])
	})
	t.Run("collected", func(t *testing.T) {
		t.Parallel()
		lines := "20000"
		if testkit.IsFull() {
			lines = "1000000"
		}
		s := run(t, "collected", self, "sums", "LINES="+lines, "MONO_GC_PARAMS=nursery-size=512k")
		require.Equal(t, lines, s.text("pushed"))
		s.accounted(t)
		require.Empty(t, s["report"], "texts came changed")
	})
}

// waits is for how long a game waits for an answer: some time only where one comes.
func waits(works bool) string {
	if works {
		return "WAIT=60000"
	}
	return "WAIT=200"
}

// harmless requires that a game was not held up, was not told the same twice, and left no process.
func harmless(t *testing.T, s said) {
	t.Helper()
	require.Less(t, s.number(t, "slowest frame ms"), 10_000, "%v", s)
	require.Less(t, s.number(t, "dispose ms"), 20_000, "%v", s)
	reports := slices.Clone(s["report"])
	slices.Sort(reports)
	require.Len(t, slices.Compact(reports), len(s["report"]), "reported twice: %q", s["report"])
	require.LessOrEqual(t, s.number(t, "received"), s.number(t, "pushed"))
	if pid := s.number(t, "sidecar"); pid != 0 {
		testkit.Gone(t, pid, time.Minute)
	}
}

// sums reads frames and ends the process at a line whose text is not the one that was pushed.
func sums(r *bufio.Reader) {
	for {
		var head [8]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		payload := make([]byte, binary.LittleEndian.Uint32(head[:]))
		if _, err := io.ReadFull(r, payload); err != nil {
			return
		}
		if head[5] != 2 {
			continue
		}
		number := func() uint64 {
			v, n := binary.Uvarint(payload)
			payload = payload[n:]
			return v
		}
		text := func() string {
			n := number()
			s := string(payload[:n])
			payload = payload[n:]
			return s
		}
		number()
		payload = payload[8:]
		for range 4 { // nanoseconds, level, flag, thread
			number()
		}
		text()
		number()
		number()
		for _, s := range []string{text(), text()} {
			at := strings.LastIndex(s, " #")
			if s == "" {
				continue
			}
			sum := uint32(0)
			for _, c := range []byte(s[:max(at, 0)]) {
				sum = sum*31 + uint32(c)
			}
			if at < 0 || s[at+2:] != strconv.FormatUint(uint64(sum), 10) {
				fmt.Fprintf(os.Stderr, "changed: %q\n", s)
				os.Exit(5)
			}
		}
	}
}

func withHabit(cmd *exec.Cmd, habit string) *exec.Cmd {
	cmd.Env = append(os.Environ(), "HEED_STANDIN="+habit)
	return cmd
}

// gameEnds: a game that ends while threads log ends at once, with its own status, and so does the sidecar.
func gameEnds(t *testing.T, exe, self string) {
	for _, test := range []struct {
		way    string
		status int
	}{{"exit", 7}, {"return", 7}, {"unhandled", 1}} {
		t.Run(test.way, func(t *testing.T) {
			if test.way == "return" {
				testkit.Full(t, "ends as an exit does")
			}
			t.Parallel()
			cmd := withHabit(testkit.Mono(t, 3*time.Minute, exe, test.way, self), ":")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			s := saidUntil(t, out, "ready")
			began := time.Now()
			go func() { _, _ = io.Copy(io.Discard, out) }()
			_ = cmd.Wait()
			require.Less(t, time.Since(began), time.Minute)
			require.Equal(t, test.status, cmd.ProcessState.ExitCode())
			testkit.Gone(t, s.number(t, "sidecar"), time.Minute)
		})
	}
}

// twoGames have nothing to do with each other, and one does not notice that the other is killed.
func twoGames(t *testing.T, exe, self string) {
	t.Parallel()
	type running struct {
		cmd *exec.Cmd
		in  io.WriteCloser
		out *bufio.Reader
		s   said
	}
	var games [2]running
	for i := range games {
		g := &games[i]
		g.cmd = withHabit(testkit.Mono(t, 3*time.Minute, exe, "lives", self), ":")
		var err error
		g.in, err = g.cmd.StdinPipe()
		require.NoError(t, err)
		out, err := g.cmd.StdoutPipe()
		require.NoError(t, err)
		g.out = bufio.NewReader(out)
		require.NoError(t, g.cmd.Start())
	}
	for i := range games {
		games[i].s = saidUntil(t, games[i].out, "ready")
	}
	require.NotEqual(t, games[0].s.text("item"), games[1].s.text("item"))

	require.NoError(t, games[0].cmd.Process.Kill())
	_ = games[0].cmd.Wait()
	testkit.Gone(t, games[0].s.number(t, "sidecar"), time.Minute)

	_, err := io.WriteString(games[1].in, "Another fault of the one that lives\n")
	require.NoError(t, err)
	require.NotEqual(t, games[1].s.text("item"), saidUntil(t, games[1].out, "item").text("item"))
	require.NoError(t, games[1].in.Close())
	s := saidUntil(t, games[1].out, "")
	s.accounted(t)
	require.Empty(t, s["report"])
	require.NoError(t, games[1].cmd.Wait())
	testkit.Gone(t, games[1].s.number(t, "sidecar"), time.Minute)
}

// saidUntil reads what a game writes until it wrote a value of a name.
func saidUntil(t *testing.T, r io.Reader, name string) said {
	t.Helper()
	s := said{}
	b, ok := r.(*bufio.Reader)
	if !ok {
		b = bufio.NewReader(r)
	}
	for s[name] == nil {
		line, err := b.ReadString('\n')
		if err == io.EOF && name == "" {
			break
		}
		require.NoError(t, err, "%v", s)
		s.add(line)
	}
	return s
}
