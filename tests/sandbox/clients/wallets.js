// A sign-in message that siwe writes, and five clients that pay for themselves.
import { createServer } from "node:http";
import { createKeyPairSignerFromPrivateKeyBytes } from "@solana/kit";
import { wrapAxiosWithPaymentFromConfig } from "@x402/axios";
import { ExactEvmScheme } from "@x402/evm";
import { wrapFetchWithPaymentFromConfig } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import axios from "axios";
import { SiweMessage } from "siwe";
import { VeniceClient } from "venice-x402-client";
import { privateKeyToAccount } from "viem/accounts";
import { wrapFetchWithPayment } from "x402-fetch";

const { SANDBOX_URL, SANDBOX_KEY, WALLETS } = process.env;
const url = new URL(SANDBOX_URL), topUp = `${SANDBOX_URL}/x402/top-up`;
const keys = WALLETS.split(" "), found = {};

async function balance(account) {
  const now = Date.now();
  const message = new SiweMessage({
    domain: url.host, address: account.address, statement: "Sign in to the service", uri: url.origin, version: "1",
    chainId: 8453, issuedAt: new Date(now).toISOString(), expirationTime: new Date(now + 240_000).toISOString(),
  }).prepareMessage();
  const signature = await account.signMessage({ message });
  const told = { address: account.address, message, signature, chainId: 8453 };
  const header = Buffer.from(JSON.stringify(told)).toString("base64");
  const answer = await fetch(`${SANDBOX_URL}/x402/balance/${account.address}`, {
    headers: { "X-Sign-In-With-X": header },
  });
  return (await answer.json()).data.balanceUsd;
}

const [one, two, three] = keys.map((key) => privateKeyToAccount(key));
const config = (account) => ({
  schemes: [{ network: "eip155:8453", client: new ExactEvmScheme(account) }],
  spendControls: { maxAmountPerPayment: "$10" }, // their own limit is a dollar, the least top-up five
});
found.x402_fetch_2 = [(await wrapFetchWithPaymentFromConfig(fetch, config(one))(topUp, { method: "POST" })).status];
found.x402_fetch_2.push(await balance(one));
found.x402_axios = [(await wrapAxiosWithPaymentFromConfig(axios.create(), config(two)).post(topUp)).status];
found.x402_axios.push(await balance(two));

const bearer = { Authorization: `Bearer ${SANDBOX_KEY}`, "Content-Type": "application/json" };
const node = createServer(async (request, answer) => { // what it asks the chain, through the proxy, with the key
  let body = "";
  for await (const piece of request) body += piece;
  const told = await fetch(`${SANDBOX_URL}/crypto/rpc/solana-mainnet`, { method: "POST", headers: bearer, body });
  answer.writeHead(told.status, { "Content-Type": "application/json" }).end(await told.text());
});
await new Promise((listens) => node.listen(0, "127.0.0.1", listens));
const signer = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(45));
await fetch(`${url.origin}/sandbox/faucet`, {
  method: "POST", headers: bearer, body: JSON.stringify({ address: signer.address, amount: "50" }),
});
const svm = new ExactSvmScheme(signer, { rpcUrl: `http://127.0.0.1:${node.address().port}` });
const onSolana = { schemes: [{ network: "solana:*", client: svm }], spendControls: false }; // it knows other tokens only
found.x402_svm = [(await wrapFetchWithPaymentFromConfig(fetch, onSolana)(topUp, { method: "POST" })).status];
const known = await fetch(`${url.origin}/sandbox/wallets/${signer.address}`, { headers: bearer });
found.x402_svm.push(Number((await known.json()).usd));
node.close();
await fetch(`${url.origin}/sandbox/faults/terms_v1`, { // which a service of that version offers by itself
  method: "PUT", body: '{"times": 1}',
  headers: { Authorization: `Bearer ${SANDBOX_KEY}`, "Content-Type": "application/json" },
});
found.x402_fetch_1 = [(await wrapFetchWithPayment(fetch, three, 10_000_000n)(topUp, { method: "POST" })).status];
found.x402_fetch_1.push(await balance(three));
const venice = new VeniceClient(keys[3], { apiUrl: url.origin });
await venice.topUp(10);
const said = await venice.chat({
  model: "rialto-handbook", messages: [{ role: "user", content: "How do I stop an answer?" }],
});
found.venice = [said.choices[0].message.content.includes("Esc")];
let text = "";
for await (const piece of venice.chatStream({
  model: "rialto-handbook", messages: [{ role: "user", content: "How do I stop an answer?" }],
})) text += typeof piece === "string" ? piece : piece.choices?.[0]?.delta?.content ?? "";
found.venice.push(text.includes("Esc"), (await venice.models()).data.length > 0);
found.venice.push((await venice.getTransactions()) !== undefined);
console.log(JSON.stringify(found));
