package mcp

// Refused returns why a document is no tool.
func Refused(cfg Config, text string) error {
	_, err := newTool(cfg, "tested", text)
	return err
}

// Writes are the names of the mutations that tools may run, and whether a document is
// limited to a dry run or to some fields of the input.
func Writes() map[string]bool {
	limited := map[string]bool{}
	for name, effect := range writes {
		limited[name] = effect.isDryRun || effect.fields != nil
	}
	return limited
}
