package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/heedlog/heed"
)

// updates prints the timeline. Updates of one item that follow its opening, or
// each other, are folded into one row with the state after the last of them.
func (t *textReport) updates() {
	if t.timeline.total == 0 {
		return
	}
	t.section(strong, "TIMELINE of %s", count(t.timeline.total, "update"))
	g := grid{columns: []column{
		{title: "LINE", right: true},
		{title: "UPDATE"},
		{title: "ITEM"},
		{title: "DISPOSITION", style: dispositionStyle},
		{title: "COUNT", right: true, style: only(strong)},
		{title: "GROUPS", right: true},
		{title: "SUMMARY"},
	}, minLast: 32, color: t.options.Color}
	first, last := t.timeline.ends()
	left := t.timeline.left()
	rows := fold(nil, first)
	if left == 0 {
		rows, last = fold(rows, last), nil
	}
	tail := fold(nil, last)
	if len(rows)+len(tail) > 2*textUpdates || left > 0 {
		if len(tail) < textUpdates && left == 0 {
			tail = rows
		}
		tail = tail[max(0, len(tail)-textUpdates):]
		rows = rows[:min(len(rows), textUpdates)]
		left = t.timeline.total
		for _, r := range slices.Concat(rows, tail) {
			left -= r.updates
		}
	}
	add := func(r *updateRow) {
		a := &r.last.Attention
		line, kind := number(r.first.Pos), r.first.Kind
		if r.updates > 1 {
			line += "-" + number(r.last.Pos)
			kind = fmt.Sprintf("%s +%d", kind, r.updates-1)
		}
		g.add(line, kind, safe(a.ID), a.Disposition.String()+" "+a.Severity.String(),
			number(a.TotalUrgentEntries), strconv.Itoa(a.Groups), safe(a.Summary))
	}
	for i := range rows {
		add(&rows[i])
	}
	if left > 0 {
		g.add("...", "", "", "", "", "", fmt.Sprintf("(%s left out; see jsonl)", count(left, "update")))
	}
	for i := range tail {
		add(&tail[i])
	}
	t.out = g.appendTo(t.out, t.options.Width)
}

// updateRow is a run of updates of one item, from its opening or in its life.
type updateRow struct {
	first, last *heed.Update
	updates     uint64
}

// fold appends the runs among updates to rows.
func fold(rows []updateRow, updates []heed.Update) []updateRow {
	for i := range updates {
		u := &updates[i]
		if n := len(rows); n > 0 && u.Kind == updated && rows[n-1].last.Attention.ID == u.Attention.ID {
			rows[n-1].last = u
			rows[n-1].updates++
			continue
		}
		rows = append(rows, updateRow{first: u, last: u, updates: 1})
	}
	return rows
}
