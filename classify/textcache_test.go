package classify

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// cacheRules have one of everything that a decision may come from: what is known
// of a shape, what is looked at each time, phases, blindness.
const cacheRules = `
version: 1
rules:
  - {id: each, when: 'template startsWith "beta" and message contains "7" and stack contains "Foo"', disposition: blocking}
  - {id: tag, when: 'template startsWith "alpha" and operation != ""', continue: true, tags: [named]}
  - {id: menu, when: 'template startsWith "beta" and phase == "menu"', disposition: advisory}
  - {id: play, when: 'template startsWith "enter"', sets_phase: play, disposition: ignore}
  - {id: limit, when: 'template startsWith "silence"', blinds: true, disposition: blocking}
  - {id: back, when: 'template startsWith "again"', resolves: [limit], disposition: ignore}
  - {id: mod, when: 'source == "mod" and level == "error"', disposition: advisory}
`

// cachedTexts are the texts that take turns: short ones, some of one signature,
// some of one group, and some so long that the ring has to begin again.
func cachedTexts() []event.Entry {
	list := []event.Entry{
		{},
		{Message: "alpha 17 is lost"},
		{Message: "gamma 17 is lost"},
		{Message: "gamma 18 is lost"},
		{Message: "alpha"},
		{Stack: "alpha"},
		{Message: "beta of the mill", Stack: "  at Foo.Bar () [0x00012] in <0>:0"},
		{Message: "beta of the mill 7", Stack: "  at Foo.Bar () [0x00012] in <0>:0"},
		{Message: "enter"},
		{Message: "silence, please"},
		{Message: "again"},
		{Message: "collides"},
		{Message: "exit code 17 of gamma"},
		{Message: "exit code 18 of gamma"},
		{Message: "gamma 3d is lost"},
		{Message: "gamma 4d is lost"},
		{Message: "[error] gamma is lost"}, // a head at one level
		{Message: "[error] [error] gamma is lost"},
		{Message: "12:30:01 [error] [error] gamma is lost"},
	}
	for _, name := range []string{"Tobin", "Marla", "Quint", "Bendo", "Orsin"} {
		list = append(list, event.Entry{Message: "the lamp of " + name + " went out at night"})
	}
	for i := range 16 {
		list = append(list, event.Entry{Message: strings.Repeat("long ", 900+100*i), Stack: strings.Repeat("x", i)})
	}
	return append(list, event.Entry{Message: strings.Repeat("far too long ", maxTextBytes/8)})
}

// cached returns a classifier with the rules of the cache. Of signatures, 0 is the default.
func cached(signatures int) *Classifier {
	set := testkit.Must(rules.Compile(rules.File{Name: "f", Data: []byte(cacheRules)}))
	return testkit.Must(New(Config{Rules: set, Signatures: signatures}))
}

// FuzzTextCache holds a classifier with its text cache to one without it. Each step is
// three bytes: which text, what else the entry is, and how often it comes.
func FuzzTextCache(f *testing.F) {
	set := testkit.Must(rules.Compile(rules.File{Name: "f", Data: []byte(cacheRules)}))
	texts := cachedTexts()
	turns := func(n, more, times int) []byte {
		var b []byte
		for i := range n {
			b = append(b, byte(i%len(texts)), byte(i*more), byte(times))
		}
		return b
	}
	f.Add(turns(3*len(texts), 0, 6), byte(0))
	f.Add(turns(3*len(texts), 1, 7), byte(1))
	f.Add(turns(3*len(texts), 37, 6), byte(3))
	f.Add(turns(3*len(texts), 64, 1), byte(63))
	f.Add([]byte{2, 4, 7, 2, 5, 7, 2, 20, 7, 2, 0, 7, 2, 32, 7, 0, 64, 0, 2, 5, 7, 9, 5, 7, 2, 5, 7, 10, 5, 7},
		byte(63)) // one text, as other entries
	f.Add([]byte{16, 99, 7, 16, 100, 7, 17, 100, 7, 16, 99, 7, 16, 100, 7, 18, 100, 7}, byte(63)) // text at one level
	f.Add([]byte{11, 0, 3, 1, 0, 3, 8, 0, 1, 9, 0, 2, 6, 0, 3, 10, 0, 2, 6, 9, 3, 11, 0, 3}, byte(2))
	f.Fuzz(func(t *testing.T, steps []byte, size byte) {
		small := 1 + int(size%8)
		cfg := Config{
			Rules: set, Signatures: small, Decisions: 1 + int(size/8%8), Sources: 1, TemplateBytes: 60_000,
			Groups: signature.GrouperConfig{Signatures: 4 * small, Columns: 16},
		}
		var twins [2]*Classifier
		for i := range twins {
			c := testkit.Must(New(cfg))
			// Another text stands under the hash of this one.
			k := c.normalizer.Key("alpha", "")
			k.Hash = c.normalizer.Key("collides", "").Hash
			c.learn(k, &event.Entry{Message: "alpha"}, "alpha")
			twins[i] = c
		}
		twins[1].texts.off = true
		for ; len(steps) >= 3; steps = steps[3:] {
			e := texts[int(steps[0])%len(texts)]
			more := steps[1]
			e.Level = event.Level(more % 6)
			e.Source = [...]string{"", "Unity", "mod", strings.Repeat("s", maxNameBytes+1)}[more/8%4]
			switch more / 32 {
			case 0:
				e.OperationID = "op"
			case 1:
				e.Kind, e.Status, e.ByCaller = event.KindOperation, event.StatusCancelled, more%2 == 0
			case 2:
				e.Kind, e.Status, e.Message = event.KindState, event.StatusPhase, [...]string{"menu", "play"}[more%2]
			}
			for range 1 + steps[2]%8 {
				twins[1].result = Result{} // what is left of the entry before must not show
				require.Equal(t, twins[1].Decide(&e), twins[0].Decide(&e))
				require.Equal(t, twins[1].Groups().Merges(nil), twins[0].Groups().Merges(nil))
				require.Equal(t, twins[1].Stats(), twins[0].Stats())
			}
		}
		require.Equal(t, twins[1].State(), twins[0].State())
		// What is evicted next is the same too.
		require.Equal(t, oldestFirst(&twins[1].signatures.table), oldestFirst(&twins[0].signatures.table))
		require.Equal(t, oldestFirst(&twins[1].decisions.table), oldestFirst(&twins[0].decisions.table))
	})
}

func oldestFirst[K comparable, V any](t *lru[K, V]) (keys []string) {
	for i := t.oldest; i != none; i = t.slots[i].newer {
		keys = append(keys, fmt.Sprint(t.slots[i].key))
	}
	return keys
}

// TestFront: a text is found from its third time on, with its stack, and not
// after what it stands for was evicted, or others took the place of the text.
func TestFront(t *testing.T) {
	c := cached(2)
	found := func(e event.Entry) bool {
		return c.texts.exact.find(&c.signatures, textSum(e.Message, e.Stack), e.Message, e.Stack, 0) != nil
	}
	e := event.Entry{Message: "beta of the mill", Stack: "  at Foo.Bar () [0x00012] in <0>:0"}
	for i := range 4 {
		require.Equal(t, i > 1, found(e))
		c.Decide(&e)
	}
	require.False(t, found(event.Entry{Message: e.Message}))
	require.False(t, found(event.Entry{Message: e.Message + e.Stack}), "the border between message and stack counts")

	c.Decide(&event.Entry{Message: "one"})
	require.True(t, found(e))
	c.Decide(&event.Entry{Message: "two"})
	require.False(t, found(e), "its signature is evicted")
	c.Decide(&e)
	require.True(t, found(e), "and known again")

	for i := range textBytes / maxTextBytes {
		long := event.Entry{Message: fmt.Sprint(i, strings.Repeat("x", maxTextBytes-8))}
		c.Decide(&e)
		require.True(t, found(e))
		c.Decide(&long)
		c.Decide(&long)
		require.True(t, found(long))
	}
	long := event.Entry{Message: "last " + strings.Repeat("x", maxTextBytes-8)}
	c.Decide(&long)
	c.Decide(&long)
	require.False(t, found(e), "the ring has come around")

	huge := event.Entry{Message: strings.Repeat("x", maxTextBytes+1)}
	for range 3 {
		c.Decide(&huge)
	}
	require.False(t, found(huge))
}

// letters writes n with letters for digits.
func letters(n int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, strconv.Itoa(n))
}

// TestTextPlaces: two texts of the same places are kept, a third one does not displace
// them before it came twice, and all are dropped before the count of bytes ends.
func TestTextPlaces(t *testing.T) {
	c := cached(0)
	found := func(text string) bool {
		return c.texts.exact.find(&c.signatures, textSum(text, ""), text, "", 0) != nil
	}
	learn := func(text string) {
		c.Decide(&event.Entry{Message: text})
	}
	var alike []string // of the same two places
	for i := 0; len(alike) < 3; i++ {
		if text := letters(i) + " is lost"; textSum(text, "")%textPlaces < 2 {
			alike = append(alike, text)
		}
	}
	for range 2 {
		learn(alike[0])
		learn(alike[1])
	}
	require.True(t, found(alike[0]) && found(alike[1]))
	learn(alike[2])
	learn(alike[1])
	require.True(t, found(alike[1]))
	require.False(t, found(alike[0]), "of two that are kept, the older one makes room")
	learn(alike[0])
	learn(alike[0])
	require.True(t, found(alike[1]) && found(alike[0]), "what came once makes room before what is kept")

	c.texts.exact.written = math.MaxUint32 - 2*textBytes
	for i := range 2 * textBytes / maxTextBytes {
		long := fmt.Sprint(i, strings.Repeat("x", maxTextBytes-8))
		learn(long)
		learn(long)
		require.True(t, found(long))
	}
	require.Less(t, c.texts.exact.written, uint32(5*textBytes))
	require.False(t, found(alike[0]) || found(alike[1]))
}

// TestTextSum: every byte of a text counts, and where its message ends.
func TestTextSum(t *testing.T) {
	sums := map[uint64]string{}
	add := func(message, stack string) {
		sum := textSum(message, stack)
		require.Empty(t, sums[sum], "%q, %q", message, stack)
		sums[sum] = message + "|" + stack
	}
	for n := range 100 {
		text := []byte(strings.Repeat("a", n))
		add(string(text), "")
		for i := range text {
			text[i] ^= 1
			add(string(text), "")
			add(string(text[:n/2]), string(text[n/2:])+"b")
			text[i] ^= 1
		}
	}
}

// TestZero: a line has the same zeroed form and sum as another one if they differ in digits alone, digit for digit. A
// line of less than 16 bytes has none.
func TestZero(t *testing.T) {
	var c textCache
	zero := func(s string) string {
		b := []byte(s)
		for i := range b {
			if '0' <= b[i] && b[i] <= '9' {
				b[i] = '0'
			}
		}
		return string(b)
	}
	bytes := rapid.SampledFrom([]byte("0123456789/:aO \xb0\xb9\x7f\xff"))
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 70).Draw(t, "n")
		a := string(rapid.SliceOfN(bytes, n, n).Draw(t, "a"))
		zeroed, sum := c.zero(a)
		if n < 16 {
			require.Zero(t, sum)
			return
		}
		require.Equal(t, zero(a), zeroed)
		require.Equal(t, strings.ContainsAny(a, "0123456789"), sum != 0)
		_, same := c.zero(zeroed)
		require.Equal(t, sum, same)
	})
}

// TestLines: a line stands for others with digits of the same number, unless they count.
func TestLines(t *testing.T) {
	c := cached(0)
	found := func(line string) bool {
		zeroed, sum := c.texts.zero(line)
		kept := c.texts.alike.find(&c.signatures, sum, zeroed, "", 0)
		if kept != nil {
			require.Equal(t, c.normalizer.Key(line, ""), signature.Key{Hash: kept.hash, Check: kept.check})
		}
		return kept != nil
	}
	for i := range 3 {
		c.Decide(&event.Entry{Message: fmt.Sprintf("gamma %d is lost", 17+i)})
		c.Decide(&event.Entry{Message: fmt.Sprintf("exit code %d of gamma", 17+i)})
		require.Equal(t, i > 0, found("gamma 99 is lost"))
	}
	require.False(t, found("gamma 199 is lost"))
	require.False(t, found("gamma :9 is lost"))
	require.False(t, found("exit code 17 of gamma"))
}

// TestOperationsAlike: texts of calls that differ in digits are found as one, whatever the method is.
func TestOperationsAlike(t *testing.T) {
	c := cached(0)
	for i := range 3 {
		text := "the press with the number 2" + string(rune('1'+i)) + " turned again and again"
		c.Decide(&event.Entry{Kind: event.KindOperation, Source: "press", Message: text})
	}
	zeroed, line := c.texts.zero("the press with the number 24 turned again and again")
	require.NotNil(t, c.texts.alike.find(&c.signatures, line, zeroed, "", 0))
}
