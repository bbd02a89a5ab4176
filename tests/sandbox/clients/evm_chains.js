// viem and ethers: what they read, simulate, prove and gather, and which errors they recognize.
import { readFileSync } from "node:fs";
import { createPublicClient, createWalletClient, http, parseAbi, parseEther, parseEventLogs, toFunctionSelector, BaseError,
         InsufficientFundsError, ContractFunctionRevertedError } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import { Contract, ContractFactory, FetchRequest, JsonRpcProvider, Wallet } from "ethers";

const { SANDBOX_URL, SANDBOX_KEY, USDC, ALICE, BOB, EMPTY, EVERY_LOG, EVERY_LOG_SOURCE } = process.env;
const url = `${SANDBOX_URL}/crypto/rpc/base-mainnet`;
const Authorization = `Bearer ${SANDBOX_KEY}`;
let requests = 0;
const transport = http(url, { fetchOptions: { headers: { Authorization } }, onFetchRequest: () => { requests += 1; } });
const alice = privateKeyToAccount(ALICE), empty = privateKeyToAccount(EMPTY);
const reader = createPublicClient({ chain: base, transport });
const writer = createWalletClient({ chain: base, transport, account: alice });
const abi = parseAbi([
  "function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)",
  "function broken() view returns (uint256)",
  "error TooLittle(uint256 wanted)",
]);
const caught = async (promise) => { try { await promise; return null; } catch (error) { return error; } };
const named = (error, type) => error instanceof BaseError ? error.walk((one) => one instanceof type) : null;
const found = {};

const hash = await writer.sendTransaction({ to: empty.address, value: 0n, type: "eip2930",
  accessList: [{ address: USDC, storageKeys: [] }] });
found.viemSent = (await reader.waitForTransactionReceipt({ hash })).status;
const proof = await reader.getProof({ address: USDC, storageKeys: ["0x" + "3".padStart(64, "0")] });
found.viemProof = proof.accountProof.length > 0 && proof.storageProof[0].value > 0n;
const listed = await reader.createAccessList({ account: alice, to: USDC,
  data: "0x70a08231" + alice.address.slice(2).padStart(64, "0") });
found.viemAccessList = listed.accessList[0].storageKeys.length;
const simulated = await reader.simulateCalls({ account: alice.address, calls: [
  { to: USDC, abi, functionName: "transfer", args: [empty.address, 5n] },
  { to: USDC, abi, functionName: "balanceOf", args: [empty.address] },
] });
found.viemSimulated = simulated.results.map((one) => [one.status, String(one.result)]);
const stranger = "0x" + "12".repeat(20);
found.viemOverridden = String(await reader.readContract({ address: stranger, abi, functionName: "broken",
  stateOverride: [{ address: stranger, code: "0x602a60005260206000f3" }] }));
const gathering = createPublicClient({ chain: base, transport, batch: { multicall: true } });
requests = 0;
const balances = await Promise.all([alice, alice].map(({ address }) =>
  gathering.readContract({ address: USDC, abi, functionName: "balanceOf", args: [address] })));
found.viemGathered = [...balances.map(String), requests];
const declared = readFileSync(EVERY_LOG_SOURCE, "utf8").match(/event \w+\([^)]*\);/g); // not the anonymous ones
const events = parseAbi(["struct Point { int32 x; int32 y; string label; }",
  ...declared.map((line) => line.replace(";", "").replaceAll("Color", "uint8"))]);
const logs = parseEventLogs({ abi: events, logs: await reader.getLogs({ address: EVERY_LOG, fromBlock: 0n }) });
found.viemDecoded = [logs.length === declared.length, logs.find((log) => log.eventName === "Struct").args.value.label];
const poor = await caught(reader.estimateGas({ account: empty, to: alice.address, value: parseEther("1") }));
found.viemPoor = named(poor, InsufficientFundsError) !== null;
const reverted = await caught(reader.simulateContract({ account: empty, address: USDC, abi,
  functionName: "transfer", args: [alice.address, 10n ** 18n] }));
found.viemReverted = Boolean(named(reverted, ContractFunctionRevertedError)?.reason);
// reverts with TooLittle(7): selector, then a word
const code = "0x" + "7f" + "SELECTOR".padEnd(64, "0") + "600052" + "6007600452" + "60246000fd";
const filled = code.replace("SELECTOR", toFunctionSelector("TooLittle(uint256)").slice(2));
const custom = await caught(reader.readContract({ address: stranger, abi, functionName: "broken",
  stateOverride: [{ address: stranger, code: filled }] }));
const data = named(custom, ContractFunctionRevertedError)?.data;
found.viemCustom = [data?.errorName, String(data?.args?.[0])];

const request = new FetchRequest(url);
request.setHeader("Authorization", Authorization);
const provider = new JsonRpcProvider(request, 8453, { staticNetwork: true, batchMaxCount: 1 });
const token = new Contract(USDC, ["function balanceOf(address) view returns (uint256)",
  "function transfer(address, uint256) returns (bool)"], provider);
found.ethersBalance = String(await token.balanceOf(alice.address));
const wallet = new Wallet(ALICE, provider);
const sent = await token.connect(wallet).transfer(empty.address, 5n);
found.ethersSent = (await sent.wait()).logs.length;
found.ethersPoor = (await caught(new Wallet(EMPTY, provider).sendTransaction({ to: alice.address, value: 1n })))?.code;
const refused = await caught(token.connect(new Wallet(EMPTY, provider)).transfer.staticCall(alice.address, 10n ** 18n));
found.ethersReverted = [refused?.code, Boolean(refused?.reason)];
// By another account: for a quarter of a second ethers remembers what the last nonce of one was.
const runtime = filled.slice(2), size = (runtime.length / 2).toString(16);
const broken = await new ContractFactory(["error TooLittle(uint256 wanted)", "function broken() view returns (uint256)"],
  `0x60${size}8060095f395ff3${runtime}`, new Wallet(BOB, provider)).deploy();
await broken.waitForDeployment();
const told = await caught(broken.broken());
found.ethersCustom = [told?.revert?.name, String(told?.revert?.args?.[0])];
provider.destroy();
console.log(JSON.stringify(found));
