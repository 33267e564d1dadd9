package command

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text/width"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// viewFlags are the flags of output of the commands that replay or compare logs, or test rules on captures.
type viewFlags struct {
	format     string
	files      map[string]*string // by format, where a document goes that is written besides
	top, width int
	scrub      scrubFlags
}

// register adds the flags: the formats, with the help of --format, and --top, unless its help is empty.
func (f *viewFlags) register(cmd *cobra.Command, formatHelp, topHelp string, formats ...string) {
	cmd.Flags().StringVar(&f.format, "format", formatText, formatHelp)
	cli.Choice(cmd, "format", formats...)
	f.files = map[string]*string{}
	for _, format := range documentFormats {
		if slices.Contains(formats, format) && len(formats) > 2 {
			f.files[format] = cmd.Flags().String(format, "", "also write "+format+" to `FILE`")
		}
	}
	if topHelp != "" {
		cli.TopFlag(cmd, &f.top, defaultTop, topHelp)
	}
	cli.WidthFlag(cmd, &f.width, width.Min)
	f.scrub.register(cmd)
}

// formats returns the requested formats, the format of standard output first.
func (f *viewFlags) formats() []string {
	all := []string{f.format}
	for _, format := range documentFormats {
		if file := f.files[format]; file != nil && *file != "" {
			all = append(all, format)
		}
	}
	return all
}

// writeTo writes a document of a format that is asked for besides.
func (f *viewFlags) writeTo(format string, data []byte) error {
	if err := ReplaceFile(*f.files[format], data); err != nil {
		return ioError(fmt.Errorf("cannot write the report: %w", err))
	}
	return nil
}

// layout returns the layout of text: width columns, or the columns of the terminal if width is 0.
func (p *program) layout(width int) report.TextOptions {
	columns, rows := cli.Size(p.Stdout)
	if width == 0 {
		width = columns
	}
	return report.TextOptions{Width: width, Color: p.Color, Rows: rows}
}

// installed are the mods of the folders that --mods names.
type installed struct {
	dirs []string
	once sync.Once
	mods []heed.Mod
}

// ModsUsage is the help of --mods.
const ModsUsage = "read the names, package ids and Workshop numbers of installed mods from `DIR`, the game's Mods folder or its folder of the Steam Workshop, so that each mod has one name and a link (repeatable)"

func (p *program) registerMods(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&p.mods.dirs, "mods", nil, ModsUsage)
}

// installed returns the mods of --mods. It reads them once, and notes each mod that cannot be read.
func (p *program) installed() []heed.Mod {
	p.mods.once.Do(func() {
		mods, notes := files.Mods(p.mods.dirs)
		p.mods.mods = mods
		NoteMods(p.Note, notes)
	})
	return p.mods.mods
}

// NoteMods notes the errors of installed mods: three of them, and the number of the others.
func NoteMods(note func(format string, args ...any), notes []error) {
	const most = 3
	for i, err := range notes {
		if i == most {
			note("%d more mods could not be read", len(notes)-most)
			break
		}
		note("%v", err)
	}
}

// ruleFlags select the rules.
type ruleFlags struct {
	files      []string
	noDefaults bool
	note       func(format string, args ...any)
}

func (f *ruleFlags) register(p *program, cmd *cobra.Command) {
	f.note = p.Note
	cmd.Flags().StringArrayVar(&f.files, "rules", nil, "read rules from `FILE`, or from the *.yaml and *.yml of a folder; they are tried before the default rules, in order (repeatable)")
	noDefaultRules(cmd, &f.noDefaults)
}

func noDefaultRules(cmd *cobra.Command, value *bool) {
	cmd.Flags().BoolVar(value, "no-default-rules", false, "leave out the default rules for Unity and RimWorld")
}

// sources reads the rule files that the flags name, the defaults with them.
func (f *ruleFlags) sources() ([]rules.File, error) {
	files, err := files.AllRules(f.files, time.Now())
	if err == nil && !f.noDefaults {
		files = append(files, rules.Defaults()...)
	}
	return files, err
}

// compileRules is [rules.Compile]. Tests keep the sets.
var compileRules = rules.Compile

// compile reads and compiles the rules that the flags name.
func (f *ruleFlags) compile() (*rules.Set, error) {
	files, err := f.sources()
	if err != nil {
		return nil, err
	}
	set, err := compileRules(files...)
	if err == nil && f.note != nil {
		noteEnded(set.Ended(), f.note)
	}
	return set, err
}

// masking compiles the rules that the flags name, and makes the normalizer that masks as they want.
func (f *ruleFlags) masking() (*rules.Set, *signature.Normalizer, error) {
	set, err := f.compile()
	if err != nil {
		return nil, nil, err
	}
	normalizer, err := signature.New(set.Masking())
	return set, normalizer, err
}
