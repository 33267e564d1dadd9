package command

import (
	"cmp"
	"fmt"
	"slices"
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

// flags are the values of the flags that several commands have. A run has one command.
type flags struct {
	output     string // the file of --output, "-" for standard output
	top, width int
	scrub      string // a level of scrubbing
	noScrub    bool
	failOn     []string

	game     string
	previous bool
	lastLine string
	lang     string // of players' texts; "" for the system's
	remember RememberFlags

	rules          []string
	noDefaultRules bool
	modFolders     []string
}

// registerView adds the flags of output of the commands that replay or compare logs, or test rules on captures: the
// formats, with the help of --format, and --top, unless its help is empty.
func (p *program) registerView(cmd *cobra.Command, formatHelp, topHelp string, formats ...string) {
	cmd.Flags().String("format", formatText, formatHelp)
	cli.Choice(cmd, "format", formats...)
	for _, format := range documentFormats {
		if slices.Contains(formats, format) && len(formats) > 2 {
			cmd.Flags().String(format, "", "also write "+format+" to `FILE`")
		}
	}
	if topHelp != "" {
		cli.TopFlag(cmd, &p.top, defaultTop, topHelp)
	}
	cli.WidthFlag(cmd, &p.width, width.Min)
	p.registerScrub(cmd)
}

// formatsOf returns the formats that a command line asks for, the format of standard output first.
func formatsOf(cmd *cobra.Command) []string {
	all := []string{formatText}
	if flag := cmd.Flags().Lookup("format"); flag != nil {
		all[0] = flag.Value.String()
	}
	for _, format := range documentFormats {
		if file, _ := cmd.Flags().GetString(format); file != "" { // "" without the flag
			all = append(all, format)
		}
	}
	return all
}

// writeMore writes the documents that a command line asks for besides standard output, by the numbers of their formats.
func (p *program) writeMore(cmd *cobra.Command, document func(i int) []byte) error {
	for i := 1; i < len(p.formats); i++ {
		file, _ := cmd.Flags().GetString(p.formats[i])
		if err := ReplaceFile(file, document(i)); err != nil {
			return ioError(fmt.Errorf("cannot write the report: %w", err))
		}
	}
	return nil
}

// layout returns the layout of text: --width columns, or the columns of the terminal if that is 0.
func (p *program) layout() report.TextOptions {
	columns, rows := cli.Size(p.Stdout)
	return report.TextOptions{Width: cmp.Or(p.width, columns), Color: p.Color, Rows: rows}
}

// ModsUsage is the help of --mods.
const ModsUsage = "read the names, package ids and Workshop numbers of installed mods from `DIR`, the game's Mods folder or its folder of the Steam Workshop, so that each mod has one name and a link (repeatable)"

func (p *program) registerMods(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&p.modFolders, "mods", nil, ModsUsage)
}

// installed returns the mods of --mods. It reads them once, and notes each mod that cannot be read.
func (p *program) installed() []heed.Mod {
	if p.mods == nil {
		mods, notes := files.Mods(p.modFolders)
		p.mods = append([]heed.Mod{}, mods...) // not nil
		NoteMods(p.Note, notes)
	}
	return p.mods
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

func (p *program) registerRules(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&p.rules, "rules", nil, "read rules from `FILE`, or from the *.yaml and *.yml of a folder; they are tried before the default rules, in order (repeatable)")
	p.registerNoDefaults(cmd, noDefaultsHelp)
}

const noDefaultsHelp = "leave out the default rules"

func (p *program) registerNoDefaults(cmd *cobra.Command, help string) {
	cmd.Flags().BoolVar(&p.noDefaultRules, "no-default-rules", false, help)
}

// ruleFiles reads the rule files with these names, and unless the flags leave them out, the default rules.
func (p *program) ruleFiles(names ...string) ([]rules.File, error) {
	files, err := files.AllRules(names, time.Now())
	if err == nil && !p.noDefaultRules {
		files = append(files, rules.Defaults()...)
	}
	return files, err
}

// CompileRules is [rules.Compile]. Tests keep the sets.
var CompileRules = rules.Compile

// compile reads and compiles the rules that the flags name.
func (p *program) compile() (*rules.Set, error) {
	p.letGrow(growthAtStart) // until a log is open
	files, err := p.ruleFiles(p.rules...)
	var set *rules.Set
	if err == nil {
		set, err = compiled(files, p.Note)
	}
	return set, p.Placed("rules", err)
}

// compiled compiles rules, and says by note which rules' last day is over.
func compiled(files []rules.File, note func(format string, args ...any)) (*rules.Set, error) {
	set, err := CompileRules(files...)
	if err == nil {
		noteEnded(set.Ended(), note)
	}
	return set, err
}

// noteEnded says by note which rules' last day is over.
func noteEnded(ended []string, note func(format string, args ...any)) {
	for _, rule := range ended {
		note("%s", rule)
	}
}

// masking compiles the rules that the flags name, and makes the normalizer that masks as they want.
func (p *program) masking() (*rules.Set, *signature.Normalizer, error) {
	set, err := p.compile()
	if err != nil {
		return nil, nil, err
	}
	p.letGrow(growthByItself)
	normalizer, err := signature.New(set.Masking())
	return set, normalizer, err
}
