package files

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The file in which RimWorld keeps which mods are active, in load order:
//
//	<ModsConfigData>
//	  <activeMods>
//	    <li>author.somemod</li>
const (
	modsConfigList = "activeMods"
	maxMods        = 4096
)

// ModsConfig returns the package ids of the mods that a ModsConfig.xml lists as active, in load order: at most 4,096.
// The error names the wrong line. The text after the list is not read.
func ModsConfig(r io.Reader) ([]string, error) {
	d := xml.NewDecoder(r)
	for {
		token, err := d.Token()
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == modsConfigList {
			var list struct {
				IDs []string `xml:"li"`
			}
			if err = d.DecodeElement(&list, &start); err == nil {
				var ids []string
				for _, id := range list.IDs {
					if id = strings.TrimSpace(id); id != "" && len(ids) < maxMods {
						ids = append(ids, id)
					}
				}
				return ids, nil
			}
		}
		switch line, _ := d.InputPos(); {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("no element <%s>: this is not the ModsConfig.xml of the game", modsConfigList)
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}
