package logline

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/heedlog/heed/event"
)

// ways are how programs write one error, each with the text that is known of it.
var ways = []struct{ line, text string }{
	{"2031-04-05 10:00:02 ERROR save: could not write slot 3", "save: could not write slot 3"},
	{"2031-04-05 10:00:02,ERROR,save,could not write slot 3", "save,could not write slot 3"},
	{"2031-04-05 10:00:02;ERROR;save;could not write slot 3", "save;could not write slot 3"},
	{"2031-04-05 10:00:02|ERROR|save|could not write slot 3", "save|could not write slot 3"},
	{"2031-04-05T10:00:02.123Z\tERROR\tsave\tcould not write slot 3", "save\tcould not write slot 3"},
	{"2031-04-05 10:00:02,123,ERROR,save,could not write slot 3", "save,could not write slot 3"},
	{`"2031-04-05 10:00:02","ERROR","save","could not write slot 3"`, `"save","could not write slot 3"`},
	{`"2031-04-05 10:00:02";"ERROR";"save";"could not write slot 3"`, `"save";"could not write slot 3"`},
	{`2031-04-05 10:00:02,"ERROR","save","could not write slot 3"`, `"save","could not write slot 3"`},
	{`"ERROR","2031-04-05 10:00:02","could not write slot 3"`, `"could not write slot 3"`},
	{"[2031-04-05 10:00:02] [ERROR] [save] could not write slot 3", "[save] could not write slot 3"},
	{"[2031-04-05 10:00:02][save][error] could not write slot 3", "[save][error] could not write slot 3"},
	{"2031-04-05 10:00:02 [ERROR] save - could not write slot 3", "save - could not write slot 3"},
	{"2031-04-05 10:00:02 - save - ERROR - could not write slot 3", "could not write slot 3"},
	{"2031-04-05 10:00:02 save ERROR could not write slot 3", "could not write slot 3"},
	{"10:00:02.123 | save | ERR | could not write slot 3", "could not write slot 3"},
	{"(2031-04-05 10:00:02) ERROR could not write slot 3", "could not write slot 3"},
	{"[ERROR] 2031-04-05 10:00:02 could not write slot 3", "could not write slot 3"},
	{"ERROR 2031-04-05 10:00:02 could not write slot 3", "could not write slot 3"},
	{"ERROR: 2031-04-05 10:00:02: could not write slot 3", "could not write slot 3"},
	{"05.04.2031 10:00:02 FEHLER could not write slot 3", "could not write slot 3"},
	{"05.04.2031 10:00:02 Fehler: could not write slot 3", "could not write slot 3"},
	{"05/04/2031 10:00:02 ERREUR could not write slot 3", "could not write slot 3"},
	{"05/04/2031 10:00:02 a. m. ERROR could not write slot 3", "could not write slot 3"},
	{"5/4/2031 10:00:02 AM ERROR could not write slot 3", "could not write slot 3"},
	{"05.04.2031 10:00:02 ОШИБКА could not write slot 3", "could not write slot 3"},
	{"2031年4月5日 10:00:02 错误 could not write slot 3", "could not write slot 3"},
	{"2031/04/05 10:00:02 エラー could not write slot 3", "could not write slot 3"},
	{"2031. 4. 5. 오전 10:00:02 오류 could not write slot 3", "could not write slot 3"},
	{"[2031-04-05 10:00:02] [오류] could not write slot 3", "could not write slot 3"},
	{"5. April 2031 10:00:02 FEHLER could not write slot 3", "could not write slot 3"},
	{"5 avr. 2031 10:00:02 ERREUR could not write slot 3", "could not write slot 3"},
	{"5 апреля 2031 г. 10:00:02 ОШИБКА could not write slot 3", "could not write slot 3"},
	{"[5 апр. 2031 10:00:02] [ERROR] could not write slot 3", "could not write slot 3"},
	{"Saturday, April 5, 2031 10:00:02 AM ERROR could not write slot 3", "could not write slot 3"},
	{"Sat Apr  5 10:00:02 2031 ERROR could not write slot 3", "could not write slot 3"},
	{"Apr  5 10:00:02 lamp save[123]: ERROR: could not write slot 3", "could not write slot 3"},
	{"2031-04-05T10:00:02+0200 ERROR could not write slot 3", "could not write slot 3"},
	{"2031-04-05 10:00:02.123456 CEST ERROR could not write slot 3", "could not write slot 3"},
	{"2031-04-05 10:00:02 [E] could not write slot 3", "could not write slot 3"},
	{"E0405 10:00:02.000001   123 save.go:12] could not write slot 3", "could not write slot 3"},
	{"<3>could not write slot 3", "could not write slot 3"},
	{`level=error ts=2031-04-05T10:00:02Z msg="could not write slot 3"`, `msg="could not write slot 3"`},
	{`ts="2031-04-05 10:00:02" level=error msg="could not write slot 3"`, `msg="could not write slot 3"`},
	{"ERROR|save|could not write slot 3", "save|could not write slot 3"},
	{"ERROR\tsave\tcould not write slot 3", "save\tcould not write slot 3"},
	{"[ERROR|save] could not write slot 3", "could not write slot 3"},
	{"[=ERROR=] could not write slot 3", "could not write slot 3"},
	{"<ERROR> could not write slot 3", "could not write slot 3"},
	{"*ERROR* could not write slot 3", "could not write slot 3"},
	{"*** ERROR *** could not write slot 3", "could not write slot 3"},
	{"=ERROR= could not write slot 3", "could not write slot 3"},
}

func TestWays(t *testing.T) {
	for _, c := range ways {
		h := Parse(c.line)
		text := Text(c.line, event.LevelError)
		if !h.Leveled || h.Level != event.LevelError || text != c.text {
			assert.Fail(t, c.line, "%v %q", h, text)
		}
	}
}

// TestFatalWord tells the level FATAL from the word at the beginning of a sentence.
func TestFatalWord(t *testing.T) {
	for line, want := range map[string]bool{
		"Apr 05 10:00:02 lamp press[12]: FATAL errors collected so far: 0": false,
		"[10:00:02.100] FATAL is the name of this level":                   false,
		"FATAL: no disk":                                 true,
		"2031-04-05 10:00:02 [FATAL] no disk":            true,
		"2031-04-05 10:00:02 FATAL - no disk":            true,
		"2031-04-05 10:00:02 FATAL No disk":              true,
		"2031-04-05 10:00:02 ERROR could not write slot": true,
	} {
		assert.Equal(t, want, Parse(line).Leveled, line)
	}
}

// TestChannel reads the level behind the channel of Monolog.
func TestChannel(t *testing.T) {
	h := Parse("[2031-04-05 10:00:02] production.ERROR: no disk")
	assert.True(t, h.Leveled)
	assert.Equal(t, event.LevelError, h.Level)
	assert.False(t, Parse("[2031-04-05 10:00:02] press.Error: no disk").Leveled)
}

// TestLevelWithThread reads the level before a thread in brackets.
func TestLevelWithThread(t *testing.T) {
	for line, text := range map[string]string{
		"2031-04-05 10:00:02: ERROR[Press]: no gear": "no gear",
		"[Apr  5 10:00:02] ERROR[123] press.c: x":    "press.c: x",
	} {
		h := Parse(line)
		assert.Equal(t, event.LevelError, h.Level, line)
		assert.Equal(t, text, line[h.Len:], line)
	}
	assert.False(t, Parse("2031-04-05 10:00:02 GEARS[12]: ready").Leveled)
}
