package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/settings"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/text"
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
			note("--mods: %d more mods could not be read", len(notes)-most)
			break
		}
		note("--mods: %v", err)
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

// The values of --fail-on.
const (
	failNew      = "new" // of groups that are new, or unknown to a baseline
	failBlocking = "blocking"
	failAdvisory = "advisory"
	failBlind    = "blind"
	failNever    = "never" // whatever settings say
)

// registerFailOn adds --fail-on with some values, which help describes, and --last-line, for the commands that have
// findings and fail on missing evidence.
func (p *program) registerFailOn(cmd *cobra.Command, help string, values ...string) {
	p.registerLastLine(cmd)
	cmd.Flags().StringSliceVar(&p.failOn, "fail-on", nil, "exit with 1 on `WHAT`: "+help+", several separated by commas; or never")
	values = append(values, failNever)
	cli.Completes(cmd, "fail-on", values...)
	cli.Checked(cmd, func(cmd *cobra.Command) error { return checkFailOn(cmd, p.failOn, values...) })
}

// registerLastLine adds --last-line, for the commands that fail on missing evidence.
func (p *program) registerLastLine(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.lastLine, "last-line", "", "count a log as cut if no line of its last run contains `TEXT`, such as the last words of a test run")
}

// checkFailOn refuses a value of --fail-on that is not among those allowed, and a flag
// without any: a variable that is not set would ask for nothing, unnoticed.
func checkFailOn(cmd *cobra.Command, given []string, allowed ...string) error {
	if flag := cmd.Flags().Lookup("fail-on"); len(given) == 0 && flag != nil && flag.Changed &&
		flag.Value.String() == "[]" {
		given = []string{""}
	}
	for _, what := range given {
		if err := cli.OneOf(cmd, "fail-on", what, allowed...); err != nil {
			return err
		}
	}
	if len(given) > 1 && slices.Contains(given, failNever) {
		return cli.Usage(cmd, "--fail-on %s: %s goes with nothing else", strings.Join(given, ","), failNever)
	}
	return nil
}

// failOnNew refuses --fail-on new: a log alone has nothing new. A file of settings is for all commands, so there it is
// dropped with a message. On the command line it is an error.
func (p *program) failOnNew(cmd *cobra.Command) error {
	if !slices.Contains(p.failOn, failNew) {
		return nil
	}
	instead := fmt.Sprintf(`a single log has nothing to compare with; use "%[1]s diff OLD NEW" or "%[1]s baseline check"`, p.Name)
	v := p.Settings.Value("fail-on")
	switch v.Origin {
	case settings.User, settings.Project, settings.Named:
		p.Note("fail-on %s (%s) has no effect on a replay: %s", failNew, v.Where, instead)
		p.failOn = slices.DeleteFunc(p.failOn, func(what string) bool { return what == failNew })
		return nil
	case settings.Environment:
		return cli.Usage(cmd, "%s names %s: %s", v.Where, failNew, instead)
	}
	return cli.Usage(cmd, "--fail-on %s: %s", failNew, instead)
}

// fails raises the exit status if --fail-on names a finding: fresh is the worst disposition of the new ones, all the
// worst of all.
func (p *program) fails(fresh, all event.Disposition, blind bool) {
	if slices.Contains(p.failOn, failNew) && fresh.Urgent() ||
		slices.Contains(p.failOn, failBlocking) && all == event.Blocking ||
		slices.Contains(p.failOn, failAdvisory) && all.Urgent() ||
		slices.Contains(p.failOn, failBlind) && blind {
		p.Raise(exitFinding)
	}
	if blind && p.lastLine != "" {
		p.Note("--last-line: a log counts as cut if no line of its last run contains %q", p.lastLine)
	}
}

const english = "en"

// registerLanguage adds the flag for the language of players' texts.
func (p *program) registerLanguage(cmd *cobra.Command) {
	known := append([]string{english}, rules.Languages()...)
	cmd.Flags().StringVar(&p.lang, "lang", "", "write what a player reads in `LANGUAGE` "+strings.Join(known, ", ")+
		"; without it, in the system's")
	cli.Completes(cmd, "lang", known...)
	cli.Checked(cmd, func(cmd *cobra.Command) error {
		p.lang = strings.ToLower(p.lang)
		return cli.OneOf(cmd, "lang", cmp.Or(p.lang, english), known...)
	})
}

// documents returns documents in the language of the reader if people read the format, in English otherwise.
func (p *program) documents(replays []*report.Replay, format string, top int) (docs []*report.Document) {
	var language map[string]string
	if slices.Contains([]string{formatText, formatMarkdown, formatPage}, format) {
		language = p.language()
	}
	for _, rep := range replays {
		docs = append(docs, rep.Document(top, language))
	}
	return docs
}

// language returns the texts of the language of the reader, nil for English.
func (p *program) language() map[string]string {
	if p.texts == nil {
		language := cmp.Or(p.lang, p.Getenv("LC_ALL"), p.Getenv("LC_MESSAGES"), p.Getenv("LANG"), cli.Language())
		language, _, _ = strings.Cut(strings.ReplaceAll(language, "-", "_"), "_")
		p.texts = rules.Texts(strings.ToLower(language))
	}
	return p.texts
}

// translated is an error in the language of the reader.
type translated struct {
	error
	says string
}

func (t *translated) Error() string { return t.says }
func (t *translated) Unwrap() error { return t.error }

// inWords returns an error about a file in the language of the reader.
func (p *program) inWords(err error) error {
	said, ok := errors.AsType[*text.Saying](err)
	if !ok {
		return err
	}
	own := fmt.Sprintf(cmp.Or(p.language()[said.Format], said.Format), said.Args...)
	return &translated{err, strings.Replace(err.Error(), said.Error(), own, 1)}
}
