package compare

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readAllocs reads an earlier output of this program: the median of allocations
// per operation of each benchmark.
func readAllocs(r io.Reader) (map[string]float64, error) {
	values := map[string][]float64{}
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		fields := strings.Fields(in.Text())
		if len(fields) == 0 {
			continue
		}
		name, ok := strings.CutPrefix(fields[0], "Benchmark")
		if !ok {
			continue
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if fields[i+1] != "allocs/op" {
				continue
			}
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: allocs/op: %w", n, err)
			}
			values[name] = append(values[name], v)
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return nil, errors.New("no benchmark with allocs/op in it: write it again; go run ./bench compare says how")
	}
	medians := map[string]float64{}
	for name, v := range values {
		medians[name] = median(v)
	}
	return medians, nil
}
