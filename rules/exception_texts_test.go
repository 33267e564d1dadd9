package rules_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

// TestExceptionTexts: the list of texts of exceptions decides only where an error of a game on Unity has frames, which
// each error has there. In all other logs the frames decide, in any language.
func TestExceptionTexts(t *testing.T) {
	with := rules.DefaultSet()
	without, err := rules.Compile(append([]rules.File{{Name: "none.yaml", Data: []byte(
		"version: 1\nlists: {exception_texts: {override: true, items: [none of them]}}\n")}}, rules.Defaults()...)...)
	require.NoError(t, err)
	for _, text := range []string{
		"Object reference not set to an instance of an object", "Der Objektverweis wurde nicht auf eine Objektinstanz festgelegt.",
		"Ссылка на объект не указывает на экземпляр объекта.", "未将对象引用设置到对象的实例。",
	} {
		for _, c := range []struct {
			family        string
			level         event.Level
			with, without event.Disposition
		}{
			{"rimworld", event.LevelError, event.Blocking, event.Advisory},
			{"rimworld", event.LevelUnknown, event.Blocking, event.Blocking},
			{"plain", event.LevelError, event.Blocking, event.Blocking},
			{"plain", event.LevelUnknown, event.Blocking, event.Blocking},
		} {
			for set, want := range map[*rules.Set]event.Disposition{with: c.with, without: c.without} {
				own := testkit.Must(set.For(c.family))
				o := own.NewEvaluator().Evaluate(&rules.Input{
					Template: text, Frames: "at Verse.Press.Turn", Level: c.level, Phase: "play",
				})
				assert.Equal(t, want, o.Decision.Disposition, "%s, %s: %s", c.family, c.level, text)
			}
		}
	}
}
