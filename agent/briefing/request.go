package briefing

// Request asks for a context.
type Request struct {
	AgentID    string `json:"agentId,omitempty"`
	AgentClass string `json:"agentClass,omitempty"` // chooses the template, as FrameworkID and Tier do; any words

	FrameworkID string `json:"frameworkId,omitempty"` // a game, or a set of tools
	Tier        string `json:"tier,omitempty"`        // of the ledger; see [Ledger]

	WorkOrderID string `json:"workOrderId,omitempty"` // an operation, a goal, an item of attention
	SessionID   string `json:"sessionId,omitempty"`

	Contract Contract `json:"contract,omitzero"`

	// TemplateOverride is the id of the template to use, whatever its keys.
	TemplateOverride string `json:"templateOverride,omitempty"`

	// Template is the template to use in place of the service's. Such a context is not kept.
	Template *Template `json:"-"`

	// MaxContextTokens replaces the template's budget of tokens; 0 keeps it.
	MaxContextTokens int `json:"maxContextTokens,omitempty"`

	// Scrub removes private data, as Scrub of a template does.
	Scrub bool `json:"scrub,omitempty"`
}

// Contract has the requirements of the prompt that uses the context.
type Contract struct {
	RequiredContext RequiredContext `json:"requiredContext,omitzero" yaml:"required_context"`
}

// RequiredContext adds stages that the template's pipeline lacks. It displaces none of them.
type RequiredContext struct {
	LedgerQueries []LedgerQuery   `json:"ledgerQueries,omitempty" yaml:"ledger_queries"`
	FrameworkRefs []RegistryQuery `json:"frameworkRefs,omitempty" yaml:"framework_refs"`
	FileRefs      []FileRead      `json:"fileRefs,omitempty" yaml:"file_refs"`
}
