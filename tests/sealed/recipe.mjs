// One sealed chat by a published client, as its page shows it: attest, send, read. Prints what came of it as JSON.
import { createVeniceE2EE } from 'venice-e2ee';

const [, , base, apiKey, model] = process.argv;
const said = { stage: 'attestation', clear: [], text: '', reason: '' };
try {
  const client = createVeniceE2EE({ apiKey, baseUrl: base });
  const session = await client.createSession(model);
  said.stage = 'request';
  const turns = [
    { role: 'system', content: 'Be terse.' },
    { role: 'user', content: 'How do I stop an answer?' },
    { role: 'assistant', content: 'Press Esc, pomegranate.' },
    { role: 'user', content: 'And how do I continue it?' },
  ];
  const { encryptedMessages, headers, veniceParameters } = await client.encrypt(turns, session);
  said.clear = encryptedMessages.filter((turn) => !/^[0-9a-f]{186,}$/i.test(turn.content)).map((turn) => turn.role);
  const answer = await fetch(`${base}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${apiKey}`, ...headers },
    body: JSON.stringify({ model, messages: encryptedMessages, stream: true, venice_parameters: veniceParameters }),
  });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  said.stage = 'answer';
  for await (const piece of client.decryptStream(answer.body, session)) said.text += piece;
  said.stage = 'done';
} catch (error) {
  said.reason = String(error.message ?? error);
}
console.log(JSON.stringify(said));
process.exit(0);
