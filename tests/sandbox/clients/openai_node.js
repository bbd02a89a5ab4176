// OpenAI's own client for Node.js.
import OpenAI, { AuthenticationError, toFile } from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

const { SANDBOX_URL: baseURL, SANDBOX_KEY: apiKey } = process.env;
const client = new OpenAI({ baseURL, apiKey });
const model = "rialto-handbook", messages = [{ role: "user", content: "How do I stop an answer?" }];
const found = {};

const whole = (await client.chat.completions.create({ model, messages })).choices[0].message.content;
found.text = whole.includes("Esc");
let text = "";
for await (const chunk of await client.chat.completions.create({ model, messages, stream: true })) {
  text += chunk.choices[0]?.delta?.content ?? "";
}
found.stream = text === whole;
const Person = z.object({ name: z.string().min(2), age: z.number().int().positive() });
const parsed = await client.chat.completions.parse({
  model, messages: [{ role: "user", content: "Ada is 36" }], response_format: zodResponseFormat(Person, "person"),
});
found.parsed = Person.safeParse(parsed.choices[0].message.parsed).success;
const models = [];
for await (const one of client.models.list()) models.push(one.id);
found.models = models.includes(model);
const rows = await client.embeddings.create({ model: "text-embedding-bge-m3", input: ["a cat"] });
found.embedding = rows.data[0].embedding.length > 100;
const spoken = await client.audio.speech.create({
  model: "tts-kokoro", voice: "af_sky", input: "Good morning.", response_format: "wav",
});
const sound = Buffer.from(await spoken.arrayBuffer());
found.speech = sound.subarray(0, 4).toString();
const heard = await client.audio.transcriptions.create({
  model: "nvidia/parakeet-tdt-0.6b-v3", file: await toFile(sound, "morning.wav"),
});
found.heard = heard.text.length > 0;
try {
  await new OpenAI({ baseURL, apiKey: "wrong", maxRetries: 0 }).models.retrieve(model);
} catch (error) {
  found.refused = error instanceof AuthenticationError;
}
console.log(JSON.stringify(found));
