package sim

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// TestUpdatesAreFew drives whole engines, under the default rules and a few of its own, with
// streams that were made to cost updates, drains after each entry, and holds them to
//
//	updates <= 6 + 3 log10 n + 3 log10 k + 3 s
//
// for n urgent entries of k groups and s stops, and two more for each item that was acknowledged and stopped no call.
// A stop is an item that begins to block; each raise and arrival is one, too. A golden file has the figures of each
// stream: an engine that stops more often than it has to changes them.
func TestUpdatesAreFew(t *testing.T) {
	own := rules.File{Name: "law.yaml", Data: []byte(stormRules())}
	set := testkit.Must(rules.Compile(append([]rules.File{own}, rules.Defaults()...)...))
	table := fmt.Sprintf("%-50s %7s %6s %5s %5s %8s %7s\n", "stream", "n", "k", "s", "acks", "updates", "bound")
	for _, a := range streams() {
		n := a.n
		if !testkit.IsFull() {
			n = min(n, 1000)
		}
		w := newWorld(t, set, &a)
		for i := range n {
			a.feed(w, i)
		}
		k := max(1, len(w.groups))
		if w.maxGroups < k {
			k = max(k, w.urgent) // nobody knows whether a group without a counter came before
		}
		bound := 6 + math.Ceil(3*math.Log10(float64(max(1, w.urgent)))) + math.Ceil(3*math.Log10(float64(k))) +
			3*float64(w.stops) + 2*float64(w.mildAcks)
		table += fmt.Sprintf("%-50s %7d %6d %5d %5d %8d %7.0f\n", a.name, w.urgent, k, w.stops, w.acks, w.updates, bound)
		if float64(w.updates) > bound {
			t.Errorf("%s: %d updates, at most %.0f are allowed: %v", a.name, w.updates, bound, w.reasons)
		}
		if a.stops > 0 {
			require.LessOrEqual(t, w.stops, a.stops, a.name)
		}
	}
	if testkit.IsFull() {
		t.Log("\n" + table)
	} else {
		testkit.Golden(t, "testdata/law.golden", table)
	}
}

// stormRules are the rules of the streams: a rule for each effect, and families of many.
func stormRules() string {
	var b strings.Builder
	b.WriteString(`version: 1
rules:
  - {id: law.begin, when: 'template startsWith "Loading"', disposition: ignore, sets_phase: load}
  - {id: law.play, when: 'template startsWith "Loaded"', disposition: ignore, sets_phase: play}
  - {id: law.blind, when: 'template startsWith "No more logging"', disposition: blocking, blinds: true, summary: blind}
  - {id: law.dim, when: 'template startsWith "Less logging"', disposition: advisory, blinds: true, summary: dim}
  - {id: law.sight, when: 'template startsWith "Logging again"', disposition: ignore, resolves: [law.blind, law.dim]}
  - {id: law.mended, when: 'template startsWith "Mended"', disposition: ignore, resolves: [law.broken, law.worn, law.often]}
  - {id: law.broken, when: 'template startsWith "Broken"', disposition: blocking, severity: error, summary: broken}
  - {id: law.worn, when: 'template startsWith "Worn"', disposition: advisory, severity: warning, summary: worn}
  - {id: law.grave, when: 'template startsWith "Grave"', disposition: blocking, severity: fatal, summary: grave}
  - {id: law.light, when: 'template startsWith "Light"', disposition: advisory, severity: info, summary: light}
  - {id: law.heavy, when: 'template startsWith "Heavy"', disposition: advisory, severity: error, summary: heavy}
  - id: law.often
    when: 'template startsWith "Often"'
    disposition: advisory
    severity: warning
    escalate: {after: 4, within: {duration: 8s, entries: 12}, to: blocking, severity: error}
    summary: often
`)
	for i := range manyRules {
		for _, kind := range [][2]string{{"Kind", "advisory"}, {"Stop", "blocking"}} {
			fmt.Fprintf(&b, "  - {id: law.%s%d, when: 'template startsWith \"%s %s \"', disposition: %s, summary: it}\n",
				strings.ToLower(kind[0]), i, kind[0], word(i), kind[1])
		}
	}
	return b.String()
}

const manyRules = 60

// word returns the word of a number, in letters that no mask takes for something else.
func word(i int) string {
	b := []byte("w")
	for range 5 {
		b = append(b, "bdfgklmnprst"[i%12], "aiou"[i/12%4])
		i /= 48
	}
	return string(b)
}

// kind returns a text of group i of a rule: so many words that no evidence merges two groups.
func kind(rule string, i int) string {
	return rule + " " + word(i) + " " + word(i*7919+13) + " " + word(i*104729+31)
}

// stream is a sequence of entries that was made to cost updates.
type stream struct {
	name  string
	n     int // calls of feed
	ack   int // everything open is acknowledged after so many entries; 0: nothing is
	stops int // as many as there may be, 0: not known beforehand
	cfg   func(*coalesce.Config)
	feed  func(w *world, i int)
}

// world feeds an engine, and counts.
type world struct {
	t         *testing.T
	engine    *heed.Engine
	maxGroups int
	rnd       *rand.Rand
	now       time.Time // zero: entries have none
	ack       int
	entries   int
	groups    map[string]bool // urgent ones, by rule and text
	buffer    []heed.Update

	urgent, stops, acks, mildAcks, updates int

	reasons map[string]int
}

func newWorld(t *testing.T, set *rules.Set, a *stream) *world {
	cfg := heed.Config{
		Rules: set, Epoch: Epoch, Signatures: 4096, Groups: signature.GrouperConfig{Signatures: 4096},
		Journal: journal.Config{Entries: 1000, Bytes: 64 << 10},
	}
	if a.cfg != nil {
		a.cfg(&cfg.Coalesce)
	}
	e := testkit.Must(heed.New(cfg))
	return &world{
		t: t, engine: e, maxGroups: cmp.Or(cfg.Coalesce.MaxGroups, 128), rnd: rand.New(rand.NewPCG(7, uint64(len(a.name)))),
		ack: a.ack, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), groups: map[string]bool{}, reasons: map[string]int{},
	}
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) log(text string)       { w.logOf(text, "") }
func (w *world) logOf(text, op string) { w.logAt(text, op, event.LevelInfo) }
func (w *world) phase(name string) {
	w.took(event.State{Time: w.now, Status: event.StatusPhase, Phase: name}.Entry())
}
func (w *world) start(id, method string)  { w.operation(id, method, event.StatusStarted) }
func (w *world) finish(id, method string) { w.operation(id, method, event.StatusCompleted) }

// raise lets the host raise an entry under a key, which counts as a stop.
func (w *world) raise(key string, d event.Disposition) (id string) {
	id = w.engine.Raise(heed.Report{
		Time: w.now, Key: key, Disposition: d, Severity: event.SeverityError, Message: "raised",
	})
	w.urgent++
	w.stops++
	w.groups["host."+key] = true
	w.drain()
	return id
}

func (w *world) withdraw(id string) {
	require.True(w.t, w.engine.Clear(id))
	w.drain()
}

// arrive lets an agent come and go, which counts as a stop and sums up the items that are open.
func (w *world) arrive(name string) {
	if w.engine.Attach(name, w.now) != "" {
		w.urgent++
	}
	w.stops++
	w.engine.Detach(name)
	w.drain()
}

func (w *world) logAt(text, op string, level event.Level) {
	w.took(event.Log{Time: w.now, Level: level, Message: text, OperationID: op}.Entry())
}

func (w *world) operation(id, method string, s event.Status) {
	w.took(event.Operation{Time: w.now, ID: id, Method: method, Status: s}.Entry())
}

// took lets the engine ingest an entry, drains, and acknowledges when it is time.
func (w *world) took(e event.Entry) {
	o := w.engine.Observe(e)
	if o.Decision.Disposition.Urgent() {
		w.urgent++
		w.groups[o.Decision.Rule+"\n"+e.Message] = true
	}
	w.drain()
	w.entries++
	if w.ack == 0 || w.entries%w.ack != 0 {
		return
	}
	for range 200 {
		a, open := w.engine.Current("")
		if !open {
			w.drain()
			return
		}
		if w.acks++; !a.Blocking {
			w.mildAcks++
		}
		w.engine.Ack("", a.ID, 0)
	}
	w.t.Fatal("acknowledged 200 times, and something is still open")
}

// drain takes the updates. An item that begins to block stops, unless the host raised it, which counts already.
func (w *world) drain() {
	w.buffer = w.engine.Updates(w.buffer[:0])
	w.updates += len(w.buffer)
	for i := range w.buffer {
		u := &w.buffer[i]
		w.reasons[u.Kind+" "+string(u.Reason)]++
		begins := u.Kind == coalesce.Opened || u.Reason == "disposition" || u.Reason == "loaded"
		if begins && u.Item.Blocking && !strings.HasPrefix(u.Item.Rule, "host.") {
			w.stops++
		}
	}
}

// streams returns all of them.
func streams() []stream {
	every := func(d time.Duration, text string) func(*world, int) {
		return func(w *world, _ int) {
			w.log(text)
			w.pass(d)
		}
	}
	call := func(w *world, id string, method string, lines ...string) {
		w.start(id, method)
		w.pass(100 * time.Millisecond)
		for _, l := range lines {
			w.log(l)
		}
		w.finish(id, method)
	}
	var all []stream
	add := func(name string, n int, s stream, feed func(*world, int)) {
		s.name, s.n, s.feed = name, n, feed
		all = append(all, s)
	}

	for _, d := range []time.Duration{31 * time.Second, 6 * time.Minute, 11 * time.Minute} {
		add(fmt.Sprintf("one advisory every %v", d), 1000, stream{}, every(d, "Worn coat"))
		add(fmt.Sprintf("one default error every %v", d), 1000, stream{}, func(w *world, _ int) {
			w.logAt("Something odd went by", "", event.LevelError)
			w.pass(d)
		})
		add(fmt.Sprintf("one advisory every %v, acknowledged", d), 300, stream{ack: 1}, every(d, "Worn coat"))
	}
	add("one blocking every 31s", 40, stream{stops: 1}, every(31*time.Second, "Broken door"))
	add("one blocking every 31s, acknowledged", 40, stream{ack: 1, stops: 1}, every(31*time.Second, "Broken door"))
	add("one blocking every 11m", 1000, stream{stops: 1}, every(11*time.Minute, "Broken door"))
	add("one blocking every 11m, acknowledged", 100, stream{ack: 1, stops: 100}, every(11*time.Minute, "Broken door"))
	add("a call each 31s, one blocking outside", 300, stream{ack: 1}, func(w *world, i int) {
		call(w, fmt.Sprint("op", i), "m")
		w.pass(15 * time.Second)
		w.log("Broken door")
		w.pass(16 * time.Second)
	})
	add("a call each 31s, blocking inside, acknowledged", 300, stream{ack: 1, stops: 4}, func(w *world, i int) {
		call(w, fmt.Sprint("op", i), "m", "Broken door")
		w.engine.StateRead()
		w.pass(31 * time.Second)
	})
	add("a call each 31s, blocking inside", 1000, stream{stops: 1}, func(w *world, i int) {
		call(w, fmt.Sprint("op", i), "m", "Broken door")
		w.pass(31 * time.Second)
	})
	for _, d := range []time.Duration{0, 2 * time.Hour} {
		for _, text := range []string{"Worn coat", "Broken door"} {
			add(fmt.Sprintf("clocks %v apart in turn: %s", d, text), 5000, stream{}, func(w *world, i int) {
				w.pass(time.Duration(1-2*(i%2)) * d)
				w.log(text)
				w.pass(time.Millisecond)
			})
		}
	}
	add("two clocks in turn, ten advisory groups", 5000, stream{}, func(w *world, i int) {
		w.pass(time.Duration(1-2*(i%2)) * 2 * time.Hour)
		w.log(kind("Worn", w.rnd.IntN(10)))
	})
	for _, d := range []time.Duration{time.Second, 40 * time.Second, 6 * time.Minute} {
		for _, k := range []int{1, 10, 300} {
			for _, rule := range []string{"Worn", "Broken"} {
				add(fmt.Sprintf("new operation each line, %v, %d x %s", d, k, rule), 3000, stream{}, func(w *world, i int) {
					id := fmt.Sprint("op", i)
					w.start(id, "m")
					w.logOf(kind(rule, i%k), id)
					w.finish(id, "m")
					w.pass(d)
				})
				add(fmt.Sprintf("new phase each line, %v, %d x %s", d, k, rule), 3000, stream{}, func(w *world, i int) {
					w.phase(word(i % 7))
					w.log(kind(rule, i%k))
					w.pass(d)
				})
				add(fmt.Sprintf("load and play in turn, %v, %d x %s", d, k, rule), 3000, stream{}, func(w *world, i int) {
					w.phase([]string{"load", "play"}[i%2])
					w.log(kind(rule, i%k))
					w.pass(d)
				})
				add(fmt.Sprintf("loads that calls end, %v, %d x %s", d, k, rule), 1000, stream{ack: 3}, func(w *world, i int) {
					w.phase([]string{"load", "menu"}[i/12%2])
					w.log(kind(rule, i%k))
					w.start(fmt.Sprint("op", i), "m")
					w.finish(fmt.Sprint("op", i), "m")
					w.pass(d)
				})
				add(fmt.Sprintf("resolved between, %v, %d x %s", d, k, rule), 3000, stream{}, func(w *world, i int) {
					w.log(kind(rule, i%k))
					w.pass(d)
					w.log("Mended all")
				})
			}
		}
		add(fmt.Sprintf("blind and not, %v", d), 2000, stream{}, func(w *world, _ int) {
			w.log("No more logging")
			w.pass(d)
			w.log("Logging again")
			w.pass(d)
		})
		add(fmt.Sprintf("dim and not, %v", d), 2000, stream{}, func(w *world, _ int) {
			w.log("Less logging")
			w.pass(d)
			w.log("Logging again")
			w.pass(d)
		})
		add(fmt.Sprintf("blind, and a new group in between, %v", d), 1000, stream{}, func(w *world, i int) {
			w.log("No more logging")
			w.log(kind("Worn", i))
			w.pass(d)
			w.log("Logging again")
		})
		add(fmt.Sprintf("many advisory rules, %v", d), 3000, stream{}, func(w *world, i int) {
			w.log("Kind " + word(i%manyRules) + " of it")
			w.pass(d)
		})
		add(fmt.Sprintf("notices, %v", d), 2000, stream{}, func(w *world, i int) {
			statuses := []event.Status{event.StatusHole, event.StatusRunCut, event.StatusRestarted}
			w.took(event.Notice{Time: w.now, Status: statuses[i%len(statuses)]}.Entry())
			w.pass(d)
		})
		add(fmt.Sprintf("stall and recovery, %v", d), 2000, stream{}, func(w *world, i int) {
			w.took(event.State{Time: w.now, Status: []event.Status{event.StatusStall, event.StatusRecovered}[i%2]}.Entry())
			w.pass(d)
		})
	}
	for _, d := range []event.Disposition{event.Advisory, event.Blocking} {
		for _, n := range []int{1, 2, 5} {
			add(fmt.Sprintf("raised %s %d times and withdrawn", d, n), 400, stream{}, func(w *world, _ int) {
				for range n - 1 {
					w.raise("disk", d)
				}
				w.withdraw(w.raise("disk", d))
				w.pass(time.Second)
			})
		}
		add(fmt.Sprintf("raised %s under many keys", d), 400, stream{}, func(w *world, i int) {
			w.raise(word(i%manyRules), d)
			w.raise(word(i%manyRules), event.Advisory+event.Blocking-d)
			w.pass(31 * time.Second)
		})
	}
	for i, text := range []string{"Worn coat", "Broken door", "Grave loss"} {
		add("an agent arrives after each "+text, 400, stream{}, func(w *world, n int) {
			w.log(text)
			w.arrive([]string{"ann", word(n)}[n%2])
			w.pass([]time.Duration{time.Second, 31 * time.Second, 6 * time.Minute}[i])
		})
	}
	add("stall and recovery, acknowledged", 400, stream{ack: 1}, func(w *world, i int) {
		w.took(event.State{Time: w.now, Status: []event.Status{event.StatusStall, event.StatusRecovered}[i%2]}.Entry())
		w.pass(31 * time.Second)
	})
	for _, k := range []int{10, 100, 1000, 10_000} {
		for _, d := range []time.Duration{time.Second, 31 * time.Second, 6 * time.Minute} {
			add(fmt.Sprintf("%d advisory groups, %v apart", k, d), 3*k, stream{}, func(w *world, i int) {
				w.log(kind("Worn", i%k))
				w.pass(d)
			})
		}
	}
	add("many blocking rules", 2000, stream{}, func(w *world, i int) {
		w.log("Stop " + word(i%manyRules) + " of it")
		w.pass(31 * time.Second)
	})
	add("a blocking prelude in each episode", 2000, stream{}, func(w *world, i int) {
		w.log(kind("Worn", i%20))
		w.log("Broken door")
		w.pass(40 * time.Second)
		w.log("Mended it")
	})
	add("repetition makes it block, resolved", 20_000, stream{}, func(w *world, i int) {
		w.log("Often hit")
		w.pass(time.Second)
		if i%9 == 8 {
			w.log("Mended it")
			w.pass(20 * time.Second)
		}
	})
	for _, ack := range []int{0, 1, 100} {
		add(fmt.Sprintf("rate waves, acknowledged every %d", ack), 100_000, stream{ack: ack}, func(w *world, i int) {
			w.log("Worn coat")
			w.pass([]time.Duration{time.Millisecond, 30 * time.Second, time.Second, 50 * time.Millisecond}[i/2000%4])
		})
		add(fmt.Sprintf("severity waves, acknowledged every %d", ack), 5000, stream{ack: ack}, func(w *world, i int) {
			w.log([]string{"Light", "Worn", "Heavy", "Worn"}[i/10%4] + " thing")
			w.pass(2 * time.Second)
		})
	}
	add("late clock", 5000, stream{}, func(w *world, i int) {
		back := time.Duration(w.rnd.IntN(59)) * time.Second
		w.pass(-back)
		w.log(kind([]string{"Worn", "Broken"}[i%2], i%5))
		w.pass(back + time.Second)
	})
	add("backward clock", 5000, stream{}, func(w *world, i int) {
		w.pass(-2 * time.Minute)
		w.log(kind([]string{"Worn", "Broken"}[i%2], i%5))
	})
	add("no time at all", 100_000, stream{}, func(w *world, i int) {
		w.now = time.Time{}
		w.log([]string{"Worn coat", "nothing", "nothing"}[w.rnd.IntN(3)])
		if i%7000 < 6000 {
			w.log("nothing")
		}
	})
	add("no time, one advisory each 6000 entries", 100_000, stream{}, func(w *world, i int) {
		w.now = time.Time{}
		if i%6000 == 0 {
			w.log("Worn coat")
		} else {
			w.log("nothing")
		}
	})
	capacities := map[string]func(*coalesce.Config){
		"default": nil,
		"open":    func(c *coalesce.Config) { c.MaxOpen, c.MaxRemembered = 1, 1 },
		"few":     func(c *coalesce.Config) { c.MaxOpen, c.MaxRemembered, c.MaxGroups, c.MaxOperations = 4, 4, 4, 2 },
		"groups":  func(c *coalesce.Config) { c.MaxGroups = 4 },
		"two":     func(c *coalesce.Config) { c.MaxOpen, c.MaxRemembered, c.MaxOperations = 2, 2, 2 },
	}
	for _, name := range []string{"default", "open", "few", "groups", "two"} {
		for seed := range uint64(12) {
			add(fmt.Sprintf("mixture %d, capacities %s", seed, name), 10_000, stream{cfg: capacities[name]},
				mixture(seed, false))
		}
		add("advisory mixture, capacities "+name, 10_000, stream{cfg: capacities[name]}, mixture(9, true))
		add("advisory groups 6m apart, capacities "+name, 3000, stream{cfg: capacities[name]}, func(w *world, i int) {
			w.log(kind("Worn", i%30))
			w.pass(6 * time.Minute)
		})
		add("blocking groups of calls, capacities "+name, 3000, stream{cfg: capacities[name]}, func(w *world, i int) {
			id := fmt.Sprint("op", i)
			w.start(id, "m")
			w.logOf(kind("Broken", i%30), id)
			w.finish(id, "m")
			w.pass(6 * time.Minute)
		})
	}
	return all
}

// mixture returns a feed of everything, as a seed says.
func mixture(seed uint64, advisory bool) func(*world, int) {
	rnd := rand.New(rand.NewPCG(seed, 5))
	ks := 1 + rnd.IntN(40)
	weights := [12]int{}
	for i := range weights {
		weights[i] = rnd.IntN(4)
	}
	gaps := []time.Duration{0, time.Second, 3 * time.Second, 31 * time.Second, 6 * time.Minute, 11 * time.Minute}
	usual := gaps[rnd.IntN(4)]
	n := 0
	return func(w *world, i int) {
		rule := []string{"Worn", "Broken", "Light", "Heavy", "Often", "Grave"}[rnd.IntN(6)]
		if advisory {
			rule = []string{"Worn", "Light", "Heavy"}[rnd.IntN(3)]
		}
		text := kind(rule, rnd.IntN(ks))
		switch pick := rnd.IntN(12); {
		case weights[pick] <= rnd.IntN(4):
			w.log(text)
		case pick == 0:
			w.phase(word(rnd.IntN(3)))
		case pick == 1:
			w.phase("load")
		case pick == 2:
			w.phase("play")
		case pick == 3:
			w.log("Mended all")
		case pick == 4 && !advisory:
			w.log("No more logging")
		case pick == 5:
			w.log("Logging again")
		case pick == 6:
			w.start(fmt.Sprint("op", n), "m")
			w.logOf(text, fmt.Sprint("op", n))
		case pick == 7:
			w.finish(fmt.Sprint("op", n), "m")
			n++
		case pick == 8:
			n++
			w.logOf(text, fmt.Sprint("op", n))
		case pick == 9:
			w.pass(gaps[rnd.IntN(len(gaps))])
		case pick == 10:
			w.pass(-2 * time.Hour)
		default:
			for range rnd.IntN(40) {
				w.log(text)
			}
		}
		w.pass(usual)
	}
}
