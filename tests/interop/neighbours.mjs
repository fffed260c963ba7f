// Locks of other libraries and ours, on one key of one server: each keeps the other out, and neither frees what is not its
// own. usage: node neighbours.mjs PROGRAM
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";
import assert from "node:assert/strict";
import Redis from "ioredis";
import Redlock from "redlock";
import { Mutex } from "redis-semaphore";

const program = path.resolve(process.argv[2]);
const folder = mkdtempSync(path.join(tmpdir(), "holdfast-interop-"));
const socket = path.join(folder, "s");
const server = spawn("redis-server", ["--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder], {
  stdio: "ignore",
});
const serverEnded = once(server, "exit");

async function until(ready) {
  for (const end = Date.now() + 30_000; !(await ready()); ) {
    assert(Date.now() < end, "hangs");
    await new Promise((go) => setTimeout(go, 5));
  }
}

// ---- theirs ----------------------------------------------------------------------------------------------------------

function libraries(redis) {
  const redlock = new Redlock([redis], { retryCount: 0 });
  return {
    redlock: {
      async take(name) {
        return redlock.acquire([name], 60_000).catch(() => null);
      },
      async give(lock) {
        await lock.release();
      },
    },
    "redis-semaphore": {
      key: (name) => `mutex:${name}`,
      async take(name) {
        const mutex = new Mutex(redis, name, { acquireAttemptsLimit: 1, lockTimeout: 60_000, refreshInterval: 0 });
        return (await mutex.tryAcquire()) ? mutex : null;
      },
      async give(mutex) {
        await mutex.release();
      },
    },
  };
}

// ---- ours ------------------------------------------------------------------------------------------------------------

const store = `redis+unix://${socket}?prefix=&poll=20ms`;

function run(name, ...words) {
  const child = spawn(program, ["run", "--store", store, ...words], { stdio: ["pipe", "pipe", "inherit"] });
  child.ended = once(child, "exit").then(([code]) => code);
  return child;
}
const tryOnce = (name) => run(name, "-n", name, "--", "true").ended;

/** Holds it until its stdin is closed. */
async function hold(name) {
  const child = run(name, name, "--", "sh", "-c", "echo held; exec cat");
  await once(child.stdout, "data");
  return child;
}

// ---- tests -----------------------------------------------------------------------------------------------------------

const tests = {
  async "it keeps us out"(library, redis, name, key) {
    const theirs = await library.take(name);
    assert(theirs, "a free lock");
    const value = await redis.get(key);
    assert.equal(await tryOnce(key), 75);
    assert.equal(await redis.get(key), value, "we have touched it");
    assert((await redis.pttl(key)) > 50_000, "we have changed its end");
    await library.give(theirs);
    assert.equal(await tryOnce(key), 0);
  },
  async "we keep it out"(library, redis, name, key) {
    const ours = await hold(key);
    assert.equal(await library.take(name), null);
    ours.stdin.end();
    assert.equal(await ours.ended, 0);
    const theirs = await library.take(name);
    assert(theirs, "a lock that was given back");
    await library.give(theirs);
  },
  async "we wait for it"(library, redis, name, key) {
    const theirs = await library.take(name);
    const waiting = run(key, key, "--", "true");
    await until(async () => (await redis.exists(`holdfast:{${key}}:q`)) === 1);
    await library.give(theirs);
    assert.equal(await waiting.ended, 0);
  },
  async "a lock that it took over is not freed by us"(library, redis, name, key) {
    const ours = run(key, "--ttl", "600ms", key, "--", "sh", "-c", "echo held; exec cat");
    await once(ours.stdout, "data");
    await redis.del(key); // an operator
    const theirs = await library.take(name);
    assert(theirs, "a lock that is gone");
    assert.equal(await ours.ended, 79);
    assert.equal(await redis.exists(key), 1, "we have freed it");
    await library.give(theirs);
  },
};

let failed = 0;
try {
  await until(() => existsSync(socket));
  const redis = new Redis(socket);
  for (const [called, library] of Object.entries(libraries(redis))) {
    for (const [test, body] of Object.entries(tests)) {
      const name = `job-${called}`;
      try {
        await body(library, redis, name, library.key ? library.key(name) : name);
        console.log(`ok    ${called}: ${test}`);
      } catch (error) {
        ++failed;
        console.log(`FAIL  ${called}: ${test}: ${error.message}`);
      }
      await redis.flushall();
    }
  }
  redis.disconnect();
} finally {
  server.kill("SIGKILL");
  await serverEnded;
  rmSync(folder, { recursive: true });
}
process.exit(failed ? 1 : 0);
