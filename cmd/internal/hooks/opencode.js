// Lets heed answer the hooks of opencode, which are functions of a plugin.
import { spawnSync } from "node:child_process"

const ask = (event, sessionID, more) => {
	const { stdout } = spawnSync(COMMAND, {
		shell: true, encoding: "utf8", timeout: 10000,
		input: JSON.stringify({ hook_event_name: event, session_id: sessionID, ...more }),
	})
	try {
		return JSON.parse(stdout).hookSpecificOutput
	} catch {
		return {} // as usual
	}
}

export const Heed = async () => ({
	"chat.message": async ({ sessionID }) => void ask("UserPromptSubmit", sessionID),
	"tool.execute.before": async ({ tool, sessionID, callID }) => {
		const said = ask("PreToolUse", sessionID, { tool_name: tool, tool_use_id: callID })
		if (said.permissionDecision === "deny") throw new Error(said.permissionDecisionReason)
	},
	"tool.execute.after": async ({ tool, sessionID, callID }, result) => {
		const { additionalContext: text } = ask("PostToolUse", sessionID, { tool_name: tool, tool_use_id: callID })
		if (text && Array.isArray(result.content)) result.content.push({ type: "text", text })
		else if (text) result.output += "\n\n" + text
	},
	event: async ({ event }) => {
		if (event.type === "session.idle") ask("Stop", event.properties.sessionID)
	},
})
