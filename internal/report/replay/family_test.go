package replay_test

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/replay"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// families are the logs in testdata/families: NAME-healthy.log, and NAME-broken.log with a fault.
var families = []struct {
	name, family string
	game, loader string
	mods         int // that the log lists
}{
	{name: "bepinex", family: "bepinex", game: "Lantern Quest", loader: "BepInEx 5.4.21.0", mods: 2},
	{name: "fabric", family: "minecraft", game: "Minecraft 1.20.4", loader: "Fabric Loader 0.15.3", mods: 3},
	{name: "factorio", family: "factorio", game: "Factorio 1.1.100", mods: 1},
	{name: "godot", family: "godot"},
	{name: "json", family: "json"},
	{name: "ksp", family: "ksp", game: "Kerbal Space Program 1.12.5.3190"},
	{name: "melonloader", family: "bepinex", game: "Lantern Quest 1.4.2", loader: "MelonLoader 0.6.1", mods: 1},
	{name: "minecraft", family: "minecraft", game: "Minecraft 1.20.1", loader: "Forge 47.2.0", mods: 1},
	{name: "papyrus", family: "papyrus"},
	{name: "plain", family: "plain"},
	{name: "smapi", family: "smapi", game: "Stardew Valley 1.6.15 build 24356", loader: "SMAPI 4.1.10", mods: 2},
	{name: "source", family: "source", game: "tf 8622567"},
	{name: "unity", family: "unity", game: "LanternQuest 1.4.2"},
	{name: "unreal", family: "unreal", game: "LanternQuest"},
}

// defaults returns the default rules.
var defaults = sync.OnceValue(func() *rules.Set { return testkit.Must(rules.Compile(rules.Defaults()...)) })

// logOf returns a log of a family: healthy or broken.
func logOf(name, kind string) string {
	return string(testkit.Must(os.ReadFile(filepath.Join("../../../testdata/families", name+"-"+kind+".log"))))
}

// watch is called for each record.
type watch func()

func (w watch) Observe(*capture.Record, *heed.Outcome) {
	if w != nil {
		w()
	}
}

// play replays a log by rules, and returns both at the end.
func play(t *testing.T, set *rules.Set, log string, each func(r *replay.Replay)) (*report.Document, *replay.Replay) {
	t.Helper()
	r, err := replay.Open(set, strings.NewReader(log))
	require.NoError(t, err)
	made := report.New(r.Report("log", nil))
	var w watch
	if each != nil {
		w = func() { each(r) }
	}
	require.NoError(t, r.Run(made, w))
	return made.Document(0), r
}

// TestFamilies: of each family, a healthy log is healthy and a broken one is not; game, loader and mods have names.
func TestFamilies(t *testing.T) {
	set := defaults()
	for _, c := range families {
		t.Run(c.name, func(t *testing.T) {
			doc, r := play(t, set, logOf(c.name, "healthy"), nil)
			v := doc.Summary.Verdict
			assert.Equal(t, "healthy", v.State, "%s: %s %v", v.Headline, v.What, v.Causes)
			facts := func() {
				assert.Equal(t, c.family, r.Family)
				assert.Equal(t, c.game, r.Began.Facts().Game)
				assert.Equal(t, c.loader, r.Began.Facts().Loader)
				assert.Len(t, r.Mods.Mods, c.mods)
			}
			facts()
			doc, r = play(t, set, logOf(c.name, "broken"), nil)
			facts()
			v = doc.Summary.Verdict
			assert.Contains(t, []string{"crashed", "broken", "wrong"}, v.State,
				"%s-broken.log: %s: it needs an exception, a crash or a line that a blocking rule decides", c.name, v.Headline)
		})
	}
}

// TestRunsOfFamilies: the banner of a family begins another run, once.
func TestRunsOfFamilies(t *testing.T) {
	set := defaults()
	for _, c := range families {
		if c.family == "json" || c.family == "plain" {
			continue
		}
		log := logOf(c.name, "healthy") + "\n"
		doc, r := play(t, set, log+strings.NewReplacer("10:0", "17:4", "12:3", "19:3").Replace(log), nil)
		assert.Contains(t, strings.Join(doc.Summary.Verdict.Log, " "), "The log starts again at line ", c.name)
		assert.Equal(t, c.game, r.Began.Facts().Game)
		assert.Len(t, r.Mods.Mods, c.mods, c.name)
	}
}

// TestRows: each healthy log of a family has a row.
func TestRows(t *testing.T) {
	logs := testkit.Must(filepath.Glob("../../../testdata/families/*-healthy.log"))
	assert.Len(t, families, len(logs))
}

// decisions returns the decision about each record of a log, and calls also for each of them.
func decisions(t *testing.T, set *rules.Set, log string, also ...func(e event.Entry)) (of []string) {
	play(t, set, log, func(r *replay.Replay) {
		of = append(of, decision(r.Outcome))
		for _, f := range also {
			f(r.Record.Entry)
		}
	})
	return of
}

func decision(o heed.Outcome) string {
	d := o.Decision
	return d.Rule + " " + d.Disposition.String() + " " + d.Severity.String()
}

// TestOtherFamilies: of each family, the logs are decided alike, by a rule of another file or by their level, without
// the files that name one other family (logs of BepInEx and KSP use the file of Unity), and with the texts with which
// the rules of other families are tested in their middle. No rule of these decides about the texts.
func TestOtherFamilies(t *testing.T) {
	set := defaults()
	texts := set.Test()
	compiled := map[string]*rules.Set{}
	onlyOf := regexp.MustCompile(`\nfamilies: \[(\w+)\]\n`)
	for _, c := range families {
		apply := map[string]bool{c.family: true, "unity": c.family == "bepinex" || c.family == "ksp"}
		off := "version: 1\nrules:\n"
		for _, f := range rules.Defaults() {
			m := onlyOf.FindSubmatch(f.Data)
			for _, r := range set.Rules() {
				if m != nil && r.File == f.Name && !apply[string(m[1])] {
					off += "  - {id: " + r.ID + ", override: true, enabled: false}\n"
				}
			}
		}
		if compiled[off] == nil {
			files := append([]rules.File{{Name: "off.yaml", Data: []byte(off)}}, rules.Defaults()...)
			compiled[off] = testkit.Must(rules.Compile(files...))
		}
		own, err := set.For(c.family)
		require.NoError(t, err)
		for kind, level := range map[string]event.Level{"healthy": event.LevelUnknown, "broken": event.LevelError} {
			var entries []event.Entry
			want := decisions(t, set, logOf(c.name, kind), func(e event.Entry) {
				e.Message, e.Stack = strings.Clone(e.Message), strings.Clone(e.Stack) // of the reader, which writes over them
				entries = append(entries, e)
			})
			assert.Equal(t, want, decisions(t, compiled[off], logOf(c.name, kind)), "%s %s", c.name, kind)
			config := replay.Config(set)
			config.Family = c.family
			engine, err := heed.New(config)
			require.NoError(t, err)
			for i, e := range entries {
				for j := 0; i == len(entries)/2 && j < len(texts); j++ {
					if !own.Rule(texts[j].Rule.ID).Disabled {
						continue
					}
					o := engine.Observe(event.Log{Level: level, Message: texts[j].Text}.Entry())
					r := own.Rule(o.Decision.Rule)
					assert.True(t, r == nil || !r.Disabled, "%s decides in %s", o.Decision.Rule, c.family)
				}
				assert.Equal(t, want[i], decision(engine.Observe(e)), "%s %s", c.name, kind)
			}
		}
	}
}

// TestWordsOfPrograms: the report about a program that is no game speaks of the program.
func TestWordsOfPrograms(t *testing.T) {
	set := defaults()
	for name, log := range map[string]string{
		"crash": "thread 'main' panicked at src/main.rs:14:9:\nno lamp\nstack backtrace:\n   0: rust_begin_unwind\n" +
			"             at /rustc/abc/library/std/src/panicking.rs:645:5\n   1: lamps::order::place\n             at ./src/order.rs:14:9\n",
		"error": "2031-02-03 10:00:00 INFO listening\n2031-02-03 10:00:01 ERROR request failed\nTraceback (most recent call last):\n" +
			"  File \"/app/main.py\", line 12, in handle\n    store.save(order)\nOSError: /data/orders\n",
		"json": `{"ts":"2031-02-03T10:00:00Z","level":"fatal","msg":"no lamp","stack":"at lamps.Order.place (order.js:14:9)\nat lamps.main (main.js:2:3)"}` + "\n",
	} {
		doc, r := play(t, set, log, nil)
		assert.Contains(t, []string{"plain", "json"}, r.Family)
		shown := string(report.Text(nil, doc, report.TextOptions{}))
		assert.NotRegexp(t, `(?i)\b(game|mods|(a|the) mod|save|colony)\b`, shown, name)
	}
}

// TestReturningReport holds that what a mod reports with a stack trace blocks when it returns, and not once; a warning
// never does.
func TestReturningReport(t *testing.T) {
	set := defaults()
	for _, c := range []struct {
		level string
		times int
		want  event.Disposition
	}{{"ERROR", 3, event.Advisory}, {"ERROR", 12, event.Blocking}, {"WARN", 12, event.Advisory}} {
		trace := "[10:00:01 " + c.level + "]: [Gears] no turn: Acme.PressException: none\n  at Gears.Press.Turn () in press.cs:line 3\n"
		log := "[10:00:00 INFO]: ready\n" + strings.Repeat(trace+"[10:00:01 INFO]: on\n", c.times)
		worst := event.Ignore
		play(t, set, log, func(r *replay.Replay) { worst = max(worst, r.Outcome.Decision.Disposition) })
		require.Equal(t, c.want, worst, "%s %d", c.level, c.times)
	}
}

// TestMemory: a crash because memory ran out is the fault of no mod, by the report's own figures or by a record before.
func TestMemory(t *testing.T) {
	set := defaults()
	const trace = "0x00007FF6DECADE00 (UnityPlayer) UnityMain\n0x00000001DECADE00 (Mono JIT Code) Acme.Press:Turn ()\n"
	for name, log := range map[string]string{
		"report": "Unity Player [version: Unity 2022.3.35f1_0123456789ab]\n\n" +
			"UnityPlayer.dll caused an Access Violation (0xc0000005)\n  in module UnityPlayer.dll at 0033:decade00.\n\n" +
			"99% physical memory in use.\n16000 MB physical memory [12 MB free].\n\nStack Trace of Crashed Thread 1234:\n" + trace,
		"record": "Initialize engine version: 2022.3.35f1 (0123456789ab)\nOutOfMemoryException: Out of memory\n" +
			"  at Verse.TickManager.DoSingleTick () [0x00000] in <5eed>:0 \n\nCrash!!!\n" +
			"========== OUTPUTTING STACK TRACE ==================\n" + trace + "========== END OF STACKTRACE ===========\n",
	} {
		doc, _ := play(t, set, log, nil)
		v := doc.Summary.Verdict
		require.Equal(t, "out_of_memory", v.Reason, name)
		assert.Empty(t, v.Mods, name)
		assert.Equal(t, []string{"code: Acme"}, v.Causes[len(v.Causes)-1].Running, name)
		for _, c := range v.Causes {
			assert.Empty(t, c.Mods, name)
		}
		for _, c := range doc.Causes {
			assert.Empty(t, c.Blame, name)
		}
		shown := string(report.Text(nil, doc, report.TextOptions{}))
		assert.Contains(t, shown, "Memory ran out, and code: Acme was running;", name)
	}
}

// TestOneAdvice: the forms for continuous integration give the advice of the first screen.
func TestOneAdvice(t *testing.T) {
	set := defaults()
	logs, err := filepath.Glob("../../../testdata/captures/*.log")
	require.NoError(t, err)
	checked := 0
	for _, log := range logs {
		doc, _ := play(t, set, string(testkit.Must(os.ReadFile(log))), nil)
		junit := html.UnescapeString(string(report.JUnit(nil, doc)))
		for i := range doc.Summary.Verdict.Causes {
			if c := &doc.Summary.Verdict.Causes[i]; c.Advice != "" {
				require.Contains(t, junit, "do: "+strings.TrimSuffix(c.Advice, "."), log)
				checked++
			}
		}
	}
	require.Greater(t, checked, len(logs)/2)
}

// TestEndInLoad replays a log that ends while a game is loaded: its fault blocks at the end.
func TestEndInLoad(t *testing.T) {
	doc, r := play(t, defaults(), "RimWorld 1.5.4104 rev435\n"+
		"Loading game from file New Hope with mods:\n"+
		"System.NullReferenceException: Object reference not set to an instance of an object\n"+
		"  at Verse.Game.LoadGame () [0x00000] in <0>:0 \n", nil)
	require.Equal(t, event.Blocking, doc.Summary.Worst)
	require.Equal(t, 1, doc.Summary.Items.OpenBlocking)
	open := r.Engine.Open(nil)
	require.Len(t, open, 1)
	require.True(t, open[0].Blocking)
	require.NotContains(t, open[0].Summary, "stops no call")
}
