package command

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/compare"
)

func (p *program) suspectsCommand() *cobra.Command {
	var lists [2]string // files with lists of mods, by side
	cmd := &cobra.Command{
		Use:   "suspects OLD NEW... | OLD --game GAME | --game GAME --previous",
		Short: "Name the mods that may cause what is new in a log",
		Long: `suspects compares logs as diff does, --game and --previous included. It ranks the mods
that may be the cause of what is new or more frequent and urgent. Two kinds of evidence
count: what points at a mod (its code in the stack, a file, a name in the text), and how
the mod changed between the lists (added, updated, removed, moved in the load order). What
points at a mod comes first, in what blocks before what does not; then come the mods that
only changed. Below are the groups that are new or more frequent, as in diff.

A HugsLib upload and the logs of some mod loaders list mods with versions. A log of
RimWorld lists package ids once a game was loaded. For other logs, --old-mods and
--new-mods name a ModsConfig.xml, which has the load order. Without lists on both
sides, the only evidence is what points at a mod, and whether it was blamed before.

The score, in JSON, is that of "blame" in records, or 30 for a name in the text, plus 40 if the
mod was added, 30 if updated, 15 if removed, 10 if moved, 15 if it is on no list and
was never blamed before. The score sorts mods; it is not a probability.`,
		Example: `  heed suspects good.txt broken.txt
  heed suspects --game rimworld good.log
  heed suspects --old-mods ModsConfig.old.xml --new-mods ModsConfig.xml Player-prev.log Player.log
  heed suspects --format json good.txt broken.txt | jq '.groups[0].suspects[0]'`,
		Args: p.twoSides,
		RunE: func(cmd *cobra.Command, args []string) error {
			var mods [2][]capture.ListedMod
			for side, name := range lists { // before the logs, which take longer to read
				if name == "" {
					continue
				}
				var err error
				if mods[side], err = readMods(name); err != nil {
					return err
				}
			}
			c, err := p.readSides(cmd, args)
			if c == nil {
				return err
			}
			for side, name := range lists {
				if name != "" {
					c.collector.Mods(compare.Side(side), mods[side])
				}
			}
			return p.compared(cmd, c, report.Comparison{Found: c.collector.Suspects()})
		},
	}
	p.registerCompare(cmd)
	p.registerSides(cmd)
	cmd.Flags().StringVar(&lists[compare.Old], "old-mods", "", "read the mods of the old log from `FILE`, a ModsConfig.xml")
	cmd.Flags().StringVar(&lists[compare.New], "new-mods", "", "read the mods of the new logs from `FILE`, a ModsConfig.xml")
	return cmd
}

// maxModsConfig bounds, in bytes, a list of mods in a file of its own.
const maxModsConfig = 4 << 20

// readMods reads the list of mods of a ModsConfig.xml.
func readMods(name string) ([]capture.ListedMod, error) {
	data, err := files.Read(name, maxModsConfig)
	if err != nil {
		return nil, ioError(err)
	}
	listed, err := files.ModsConfig(bytes.NewReader(data))
	if err != nil {
		return nil, ioError(fmt.Errorf("%s: %w", name, err))
	}
	mods := make([]capture.ListedMod, len(listed))
	for i, id := range listed {
		mods[i].Name, mods[i].PackageID = id, id
	}
	return mods, nil
}
