// The AI SDK: text whole and streamed, an object by a schema, a tool that is run, embeddings, and a refusal.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, embedMany, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

const { SANDBOX_URL: baseURL, SANDBOX_KEY: apiKey } = process.env;
const options = { name: "sandbox", baseURL, includeUsage: true, supportsStructuredOutputs: true };
const sandbox = createOpenAICompatible({ ...options, apiKey });
const model = sandbox("rialto-handbook");
const prompt = "How do I stop an answer?";
const found = {};

const whole = await generateText({ model, prompt });
found.text = [whole.text.includes("Esc"), whole.finishReason, whole.usage.totalTokens > 0];
const streamed = streamText({ model, prompt });
const pieces = [];
for await (const piece of streamed.textStream) pieces.push(piece);
found.stream = [pieces.length > 5, pieces.join("") === whole.text, (await streamed.usage).outputTokens > 0];
const schema = z.object({ city: z.string().min(1), degrees: z.number().int().gte(-50).lte(50), mail: z.email() });
const filled = await generateText({ model, prompt: "Weather in Oslo?", output: Output.object({ schema }) });
found.object = schema.safeParse(filled.output).success;
const asked = [];
const get_weather = tool({
  description: "Tells the weather of a city",
  inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
  execute: async ({ city }) => { asked.push(city); return `Rain in ${city}.`; },
});
const told = await generateText({
  model, prompt: "What is the weather in Oslo?", tools: { get_weather }, stopWhen: stepCountIs(3),
});
found.tool = [asked.join(), told.text.includes("Rain in Oslo.")];
const { embeddings } = await embedMany({
  model: sandbox.textEmbeddingModel("text-embedding-bge-m3"), values: ["a cat", "money"],
});
found.embeddings = embeddings.map((row) => row.length > 100);
try {
  await generateText({ model: createOpenAICompatible({ ...options, apiKey: "wrong" })("rialto-handbook"), prompt });
} catch (error) {
  found.refused = [APICallError.isInstance(error), error.statusCode];
}
console.log(JSON.stringify(found));
