package schema

// SkillsReload is what became of the wish to read the skills anew. Skills, Prompts and Protocols tell whether any of their kind were read
// from the repository; the counts are of what is in use now.
type SkillsReload struct {
	Success           bool          `json:"success" doc:"The repository was read, if not all of its files: errors names the others. Without success all stays as it was."`
	Skills            bool          `json:"skills"`
	SkillCount        int           `json:"skill_count" doc:"Device skills and fault sets."`
	Prompts           bool          `json:"prompts"`
	PromptCount       int           `json:"prompt_count"`
	Protocols         bool          `json:"protocols"`
	ProtocolCount     int           `json:"protocol_count"`
	ForbiddenCommands int           `json:"forbidden_commands" doc:"Patterns of what is never sent to a device."`
	Version           string        `json:"version" doc:"The git commit, or folder, or embedded."`
	Workers           int           `json:"workers" doc:"How many workers have read it."`
	Errors            []SkillsFault `json:"errors" nullable:"false"`
	Message           string        `json:"message"`
}

// SkillsFault says why a file of the skills repository isn't in use, or which part of it.
type SkillsFault struct {
	File  string `json:"file" doc:"Its path in the repository."`
	Error string `json:"error"`
}
