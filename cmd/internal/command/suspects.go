package command

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/internal/report/compare"
)

func (p *program) suspectsCommand() *cobra.Command {
	var lists [2]string // files with lists of mods, by side
	var mods [2][]capture.ListedMod
	cmd := p.sidesCommand("suspects", func(cmd *cobra.Command, c *comparing) error {
		for side, name := range lists {
			if name != "" {
				c.collector.Mods(compare.Side(side), mods[side])
			}
		}
		return p.compared(cmd, c, report.Comparison{Found: c.collector.Suspects()})
	})
	cli.Checked(cmd, func(*cobra.Command) (err error) { // before the logs, which take longer to read
		for side, name := range lists {
			if name != "" && err == nil {
				mods[side], err = readMods(name)
			}
		}
		return err
	})
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
