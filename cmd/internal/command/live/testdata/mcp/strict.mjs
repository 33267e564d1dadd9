// A client of MCP 2026-07-28 behind "heed mcp": strict.mjs LOG HEED [ARGS]. It prints what each step gave as a line of
// JSON. "strict.mjs server" is the server that it calls.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

function serve() {
	const cached = { ttlMs: 0, cacheScope: 'private' };
	const text = t => ({ content: [{ type: 'text', text: t }] });
	const tools = ['build', 'ask'].map(name => ({ name, inputSchema: { type: 'object' } }));
	const sure = {
		method: 'elicitation/create',
		params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } },
	};
	const methods = {
		'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ...cached }),
		'initialize': () => ({
			protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'game', version: '1' },
		}),
		'tools/list': () => ({ tools, ...cached }),
		'tools/call': ({ name, inputResponses: answers }) => {
			if (name === 'build') return text('built');
			if (answers) return text(`answered: ${answers.sure.action}`);
			return { resultType: 'input_required', inputRequests: { sure }, requestState: 'é' };
		},
	};
	createInterface({ input: process.stdin }).on('line', line => {
		const { id, method, params } = JSON.parse(line);
		if (id === undefined) return;
		const answer = methods[method]
			? { result: { resultType: 'complete', ...methods[method](params) } }
			: { error: { code: -32601, message: 'no such method' } };
		console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
	});
}

async function play(log, command, args) {
	const first = process.env.STRICT_CLIENT.includes('/sdk@1'); // of versions with initialize
	const from = first ? '@modelcontextprotocol/sdk' : '@modelcontextprotocol/client';
	const { Client } = await import(first ? `${from}/client/index.js` : from);
	const { StdioClientTransport } = await import(first ? `${from}/client/stdio.js` : `${from}/stdio`);
	const elicit = first ? (await import(`${from}/types.js`)).ElicitRequestSchema : 'elicitation/create';
	const client = new Client({ name: 'strict', version: '1' }, {
		versionNegotiation: { mode: 'auto' }, capabilities: { elicitation: { form: {} } },
	});
	const fault = mod => appendFileSync(log, `NullReferenceException: no object\n  at ${mod}.Thing.Tick () [0x00012] in <2f>:0\n\n`);
	client.setRequestHandler(elicit, async () => {
		fault('Harbor'); // while the user thinks
		return { action: 'accept', content: {} };
	});
	await client.connect(new StdioClientTransport({ command, args, env: process.env }));
	const say = (step, text, failed = false) => console.log(JSON.stringify({ step, text, failed }));
	const call = async (step, name, args = {}) => {
		const { content, isError } = await client.callTool({ name, arguments: args });
		const text = content.map(c => c.text).join('\n');
		say(step, text, isError);
		return text;
	};
	if (!first) say('version', client.getNegotiatedProtocolVersion());
	say('tools', (await client.listTools()).tools.map(t => t.name).join(' '));
	const { resources } = await client.listResources();
	say('templates', String((await client.listResourceTemplates()).resourceTemplates.length));
	say('read', (await client.readResource({ uri: resources[0].uri })).contents[0].text);
	let updated;
	if (!first) {
		updated = new Promise(resolve => client.setNotificationHandler('notifications/resources/updated', resolve));
		const { honoredFilter } = await client.listen({ resourceSubscriptions: [resources[0].uri] });
		say('listening', honoredFilter.resourceSubscriptions.join(' '));
	}
	await call('first', 'build');
	fault('Crane');
	const refusal = await call('held', 'build');
	await call('acknowledged', 'heed_ack', { id: /with id "(\d+)"/.exec(refusal)?.[1] });
	await call('again', 'build');
	if (!first) {
		say('updated', (await updated).params.uri);
		await call('asked', 'ask');
		await call('held again', 'build');
	}
	await client.close();
}

await (process.argv[2] === 'server' ? serve() : play(process.argv[2], process.argv[3], process.argv.slice(4)));
