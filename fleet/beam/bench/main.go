// Command bench measures "heed fleet" and heed-fleet on copies of logs, in which the numbers differ:
//
//	go build -o /tmp/fleet/ ./cmd/heed-fleet && go build -C ../.. -o /tmp/fleet/ ./cmd/heed
//	go run ./bench -from LOGS -work /tmp/fleet -gb 0.1,0.5,1
//
// Each copy has players of its own. It prints time, the processor's time and the peak of memory of both programs, and
// fails if their reports differ.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	from := flag.String("from", "", "folders with logs, separated by commas")
	work := flag.String("work", "", "a folder with both programs, for copies and reports")
	sizes := flag.String("gb", "0.1,0.5,1", "sizes in GB, separated by commas, rising")
	keep := flag.Bool("keep", false, "keep the copies")
	flag.Parse()
	if err := run(*from, *work, *sizes, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(from, work, sizes string, keep bool) error {
	var logs []string
	for dir := range strings.SplitSeq(from, ",") {
		for _, ext := range []string{"log", "txt"} {
			found, err := filepath.Glob(filepath.Join(dir, "*."+ext))
			if err != nil {
				return err
			}
			logs = append(logs, found...)
		}
	}
	if len(logs) == 0 {
		return errors.New("no logs found in " + from)
	}
	data := filepath.Join(work, "data")
	if !keep {
		defer func() { _ = os.RemoveAll(data) }()
	}
	fmt.Println("size GB  logs  program                  wall s    CPU s  peak MB")
	var size int64
	files, copies := 0, 0
	for wanted := range strings.SplitSeq(sizes, ",") {
		gb, err := strconv.ParseFloat(wanted, 64)
		if err != nil {
			return err
		}
		for ; float64(size) < gb*1e9; copies++ {
			for _, log := range logs {
				n, err := write(log, data, copies)
				if err != nil {
					return err
				}
				size += n
				files++
			}
		}
		var reports [2][]byte
		for i, command := range [][]string{{"heed", "fleet"}, {"heed-fleet"}} {
			name := strings.Join(command, " ")
			report := filepath.Join(work, "report.json")
			command = append(command, "--salt", "salt", "--json", report, "--html", "", data)
			cmd := exec.Command(filepath.Join(work, command[0]), command[1:]...)
			cmd.Stderr = os.Stderr
			began := time.Now()
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			fmt.Printf("%7.2f %5d  %-23s %7.1f  %7.1f  %7d\n", float64(size)/1e9, files, name,
				time.Since(began).Seconds(), cpu.Seconds(), peak(cmd.ProcessState))
			if reports[i], err = os.ReadFile(report); err != nil {
				return err
			}
		}
		if !bytes.Equal(reports[0], reports[1]) {
			return errors.New("the reports differ")
		}
	}
	return nil
}

// write writes a copy of a log in which the digits of long numbers are others, for a player of its own.
func write(log, dir string, number int) (int64, error) {
	text, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	const long = 5 // digits: shorter ones are versions, places and counts
	for i := 0; i < len(text); {
		n := i
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n-i >= long {
			for j := i + 1; j < n; j++ {
				text[j] = '0' + (text[j]-'0'+byte(number/pow(n-j-1)%10))%10
			}
		}
		i = max(n, i+1)
	}
	text = fmt.Appendf(text, "\ncopy %d\n", number)
	player, _, _ := strings.Cut(filepath.Base(log), "-")
	name := filepath.Join(dir, fmt.Sprintf("%s-%d", player, number), filepath.Base(log))
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return int64(len(text)), err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 0, err
	}
	return int64(len(text)), os.WriteFile(name, text, 0o644)
}

func pow(n int) int {
	p := 1
	for range min(n, 9) {
		p *= 10
	}
	return p
}
