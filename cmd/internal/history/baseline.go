package history

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/compare"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// Baseline returns the groups that were urgent in at least so many sound sessions of a game, as known noise, with their
// rates in all sound sessions. Left counts groups that are left out, since no text of them is kept whole. Too few sound
// sessions are an error.
func (h *History) Baseline(
	ctx context.Context, game string, least int, today time.Time, expiry int,
) (b *compare.Baseline, left int, err error) {
	b = &compare.Baseline{Signatures: signature.Version}
	err = h.read(ctx, func(t *tx) error {
		var sessions int
		var records uint64
		var latest, masking int64 // masking is the masking of the latest session
		err := t.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(records), 0), coalesce(max(id), 0),
			coalesce(max(masking), 0) FROM session WHERE game = ?1 AND sound AND NOT running AND signatures = ?2
			AND masking = (SELECT masking FROM session WHERE game = ?1 AND sound AND NOT running AND signatures = ?2
				ORDER BY id DESC LIMIT 1)`, game, signature.Version).Scan(&sessions, &records, &latest, &masking)
		if err == nil && sessions < max(least, 1) {
			err = fmt.Errorf("%d sessions were sound, and %d are wanted", sessions, max(least, 1))
		}
		if err != nil {
			return err
		}
		sum, err := t.summary(latest)
		if err != nil {
			return err
		}
		b.Masking, b.Rules = sum.Masking, sum.Rules
		byGroup := map[int64]*noise{}
		var order []int64
		err = t.each(func(scan func(...any) error) error {
			var group, sig, session, count int64
			var template, disposition, rule string
			if err := scan(&group, &sig, &template, &session, &disposition, &rule, &count); err != nil {
				return err
			}
			n := byGroup[group]
			if n == nil {
				n = &noise{in: map[int64]bool{}}
				byGroup[group] = n
				order = append(order, group)
			}
			return n.add(signature.ID(sig), template, session, disposition, rule, uint64(count))
		}, `SELECT a.grp, a.signature, a.template, o.session, o.disposition, o.rule, o.count
			FROM occurrence o JOIN signature a ON a.id = o.sig JOIN session s ON s.id = o.session
			WHERE s.game = ?1 AND s.sound AND NOT s.running AND s.signatures = ?2 AND s.masking = ?3 AND o.disposition <> ?4
			ORDER BY a.grp, a.signature, o.session`, game, signature.Version, masking, event.Ignore.String())
		summaries := map[int64]*summary.Session{latest: sum}
		for _, group := range order {
			n := byGroup[group]
			if len(n.in) >= least && len(n.Templates) == 0 && err == nil {
				err = n.whole(t, summaries)
			}
			switch {
			case len(n.in) < least:
			case len(n.Templates) == 0:
				left++
			default:
				n.Records, n.Runs = records, sessions
				b.Entries = append(b.Entries, n.Known)
			}
		}
		return err
	})
	b.Date(today, expiry)
	return b, left, err
}

// noise is a group in sound sessions.
type noise struct {
	compare.Known

	in   map[int64]bool // sessions
	last int64          // of these
	name signature.ID   // of the group in the last
}

// whole takes the template that the last session with the group kept next to the shown one. It caches summaries.
func (n *noise) whole(t *tx, summaries map[int64]*summary.Session) (err error) {
	s := summaries[n.last]
	if s == nil {
		if s, err = t.summary(n.last); err != nil {
			return err
		}
		summaries[n.last] = s
	}
	i := slices.IndexFunc(s.Groups, func(g summary.Group) bool { return g.Signature == n.name })
	if i >= 0 {
		n.take(n.name, s.Groups[i].Canonical)
	}
	return nil
}

// add counts the group in a session, by one of its signatures.
func (n *noise) add(id signature.ID, template string, session int64, disposition, rule string, count uint64) error {
	var d event.Disposition
	if err := d.UnmarshalText([]byte(disposition)); err != nil {
		return err
	}
	n.in[session] = true
	if session >= n.last {
		n.last, n.name = session, id
	}
	n.Count += count
	if d > n.Disposition || n.Rule == "" {
		n.Disposition, n.Rule = d, rule
	}
	n.take(id, template)
	return nil
}

// take adds a template that is whole.
func (n *noise) take(id signature.ID, template string) {
	sig := signature.Of([]byte(template))
	if sig.ID != id || len(n.Templates) > 0 && n.Templates[len(n.Templates)-1] == template ||
		len(n.Templates) == compare.MaxForms {
		return // cut, scrubbed, common to several, or known already
	}
	if len(n.Templates) == 0 {
		n.Signature = sig
	}
	n.Templates = append(n.Templates, template)
}
