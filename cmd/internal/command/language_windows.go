package command

import "golang.org/x/sys/windows"

// systemLanguage returns the language of Windows, such as "de-DE".
func systemLanguage() string {
	names, err := windows.GetUserPreferredUILanguages(windows.MUI_LANGUAGE_NAME)
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}
