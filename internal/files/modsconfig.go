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
	modsConfigItem = "li"
	maxMods        = 4096
)

// ModsConfig returns the package ids of the mods that a ModsConfig.xml lists as
// active, in load order: at most 4,096. The error names the line where the file is
// not what it should be. What follows the list is not read.
func ModsConfig(r io.Reader) ([]string, error) {
	d := xml.NewDecoder(r)
	var ids []string
	within, item := false, false
	var text strings.Builder
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		switch {
		case errors.Is(err, io.EOF) && !within:
			return nil, fmt.Errorf("no element <%s>: this is not the ModsConfig.xml of the game", modsConfigList)
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			within = within || t.Name.Local == modsConfigList
			if item = within && t.Name.Local == modsConfigItem; item {
				text.Reset()
			}
		case xml.CharData:
			if item {
				text.Write(t)
			}
		case xml.EndElement:
			switch {
			case t.Name.Local == modsConfigList:
				return ids, nil
			case item:
				item = false
				if id := strings.TrimSpace(text.String()); id != "" && len(ids) < maxMods {
					ids = append(ids, id)
				}
			}
		}
	}
}
