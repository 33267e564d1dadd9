package briefing

// Request is what is asked for.
type Request struct {
	AgentID    string `json:"agentId,omitempty"`
	AgentClass string `json:"agentClass,omitempty"` // chooses the template, as FrameworkID and Tier do; any words

	FrameworkID string `json:"frameworkId,omitempty"` // a game, or a set of tools
	Tier        string `json:"tier,omitempty"`        // of the ledger; see [Ledger]

	WorkOrderID string `json:"workOrderId,omitempty"` // what is worked on: an operation, a goal, an item of attention
	SessionID   string `json:"sessionId,omitempty"`

	Contract Contract `json:"contract,omitzero"`

	// TemplateOverride is the id of the template to use, whatever its keys.
	TemplateOverride string `json:"templateOverride,omitempty"`

	// MaxContextTokens replaces that of the template's budget where it is not 0.
	MaxContextTokens int `json:"maxContextTokens,omitempty"`

	// Scrub removes private data, as Scrub of a template does.
	Scrub bool `json:"scrub,omitempty"`
}

// Contract is what the prompt that the context is for requires.
type Contract struct {
	RequiredContext RequiredContext `json:"requiredContext,omitzero" yaml:"required_context"`
}

// RequiredContext fills what the template's pipeline lacks; it displaces none of its stages.
type RequiredContext struct {
	LedgerQueries []LedgerQuery   `json:"ledgerQueries,omitempty" yaml:"ledger_queries"`
	FrameworkRefs []RegistryQuery `json:"frameworkRefs,omitempty" yaml:"framework_refs"`
	FileRefs      []FileRead      `json:"fileRefs,omitempty" yaml:"file_refs"`
}
