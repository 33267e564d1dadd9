package signature

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type scoreRow struct{ truth, text string }

func scoreLoad(t *testing.T, f string) (rows []scoreRow) {
	data, err := os.ReadFile(f)
	require.NoError(t, err)
	for _, r := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		p := strings.SplitN(r, "\t", 3)
		rows = append(rows, scoreRow{p[1], p[2]})
	}
	return rows
}

func scoreMetrics(truth, pred []string) (ga, fga float64) {
	bt, bp := map[string][]int{}, map[string][]int{}
	for i := range truth {
		bt[truth[i]] = append(bt[truth[i]], i)
		bp[pred[i]] = append(bp[pred[i]], i)
	}
	lines, groups := 0, 0
	for _, p := range bp {
		w := bt[truth[p[0]]]
		if len(w) != len(p) {
			continue
		}
		ok := true
		for i := range w {
			if w[i] != p[i] {
				ok = false
			}
		}
		if ok {
			lines += len(p)
			groups++
		}
	}
	return float64(lines) / float64(len(truth)), 2 * float64(groups) / float64(len(bt)+len(bp))
}

func TestScore(t *testing.T) {
	n := newDefault(t)
	verbose := os.Getenv("SCORE")
	for _, dir := range []string{"selflabelled", "loghub", "dev17"} {
		files, _ := filepath.Glob(map[string]string{"dev17": "/tmp/dev17/"}[dir] + map[string]string{"selflabelled": "/work/shared/data/selflabelled/", "loghub": "/work/shared/data/loghub/"}[dir] + "*.tsv")
		var sa, sf, ia, iff float64
		for _, f := range files {
			rows := scoreLoad(t, f)
			g, _ := NewGrouper(GrouperConfig{})
			var truth, pred, ids, tpls []string
			sigs := make([]Signature, len(rows))
			live := make([]Signature, len(rows))
			for i, r := range rows {
				tpl := n.AppendTemplate(nil, r.text, "")
				sigs[i] = Of(tpl)
				p := g.Learn(sigs[i], tpl)
				live[i] = g.GroupAt(p, sigs[i])
				truth = append(truth, r.truth)
				tpls = append(tpls, string(tpl))
				ids = append(ids, sigs[i].ID.String())
			}
			moved := 0
			for i := range rows {
				fin := g.Group(sigs[i])
				if fin != live[i] {
					moved++
				}
				pred = append(pred, fin.ID.String())
			}
			ga, fga := scoreMetrics(truth, pred)
			ia0, if0 := scoreMetrics(truth, ids)
			sa += ga / float64(len(files))
			sf += fga / float64(len(files))
			ia += ia0 / float64(len(files))
			iff += if0 / float64(len(files))
			fmt.Printf("%-20s ids %.3f %.3f groups %.3f %.3f moved %.2f%%\n", filepath.Base(f), ia0, if0, ga, fga, 100*float64(moved)/float64(len(rows)))
			if verbose != "" && strings.HasPrefix(filepath.Base(f), verbose) {
				scoreErrors(truth, pred, tpls)
			}
		}
		fmt.Printf("%-20s ids %.3f %.3f groups %.3f %.3f\n", dir, ia, iff, sa, sf)
	}
}

func cut(s string) string {
	if len(s) > 190 {
		return s[:190]
	}
	return s
}

func scoreErrors(truth, pred, tpls []string) {
	type kv struct {
		n int
		s string
	}
	show := func(by, other []string, what string) {
		m := map[string][]int{}
		for i := range by {
			m[by[i]] = append(m[by[i]], i)
		}
		var l []kv
		for k, ix := range m {
			d := map[string]bool{}
			for _, i := range ix {
				d[other[i]] = true
			}
			if len(d) > 1 {
				l = append(l, kv{len(ix), k})
			}
		}
		sort.Slice(l, func(i, j int) bool { return l[i].n > l[j].n || l[i].n == l[j].n && l[i].s < l[j].s })
		fmt.Println("==", what, len(l))
		for _, e := range l[:min(len(l), 14)] {
			d := map[string]int{}
			first := map[string]string{}
			for _, i := range m[e.s] {
				d[other[i]]++
				if first[other[i]] == "" {
					first[other[i]] = tpls[i]
				}
			}
			var o []kv
			for k, n := range d {
				o = append(o, kv{n, first[k]})
			}
			sort.Slice(o, func(i, j int) bool { return o[i].n > o[j].n || o[i].n == o[j].n && o[i].s < o[j].s })
			fmt.Printf("  %d lines, %d parts\n", e.n, len(d))
			for _, x := range o[:min(len(o), 6)] {
				fmt.Printf("      %5d %s\n", x.n, cut(x.s))
			}
		}
	}
	show(truth, pred, "splits")
	show(pred, truth, "merges")
}
