/** What the analysts' process can open, tried by a program that runs in its place. */
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, openBench } from "../../support/analytics/bench.ts";
import { CANARY, listen, plant, probed, reason } from "../../support/analytics/confined.fixtures.ts";
import { LIMIT_MS } from "../../support/wait.ts";

let bench: Bench;
let engineFolder: string;
let planted: ReturnType<typeof plant>;
beforeAll(async () => {
  bench = openBench();
  expect(await bench.analytics.flush(LIMIT_MS)).toBe(true);
  engineFolder = join(bench.dataDir, "clickhouse");
  planted = plant(bench.dataDir);
});
afterAll(async () => {
  planted?.remove();
  await bench?.close();
});

const portOf = (server: Server | undefined): number => {
  const address = server?.address();
  if (typeof address !== "object" || address === null) throw new Error("it has no port");
  return address.port;
};

const isUnder = (folders: readonly string[]) => (path: string) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
const parents = (path: string): string[] => {
  const parts = path.split("/").slice(1, -1);
  return parts.map((_, at) => `/${parts.slice(0, at + 1).join("/")}`);
};

describe.skipIf(reason !== "")(`S1: the analysts' process ${reason}`, () => {
  it("S1: has an environment of three words, and none of its parent's", async () => {
    process.env.WEIR_TEST_SECRET = CANARY;
    const { environment, folder, pid } = await probed(engineFolder, {});
    delete process.env.WEIR_TEST_SECRET;
    expect(environment).toEqual({ TMPDIR: "/scratch", TZ: "UTC", UV_THREADPOOL_SIZE: "8" });
    expect([folder, pid]).toEqual(["/scratch", 1]);
  });

  it("S1: sees its program, libraries, the records, four devices and its own folder", async () => {
    const { paths, program, leaks, descriptors } = await probed(engineFolder, { walk: true });
    const isLibrary = (path: string) => /^(?:\/usr)?\/lib\S*\/\S+\.so(?:\.[\d.]+)?$/.test(path);
    const tools = ["/usr/bin/setpriv", "/usr/bin/umount", "/bin/setpriv", "/bin/umount"];
    const devices = ["null", "zero", "random", "urandom"].map((name) => `/dev/${name}`);
    const files = paths.filter((path) => isLibrary(path) || [...tools, ...devices].includes(path));
    const expected = new Set([...files, ...files.flatMap(parents), "/weir", "/old", "/proc", "/records"]);
    const isRoom = isUnder(["/records/metadata", "/records/store", "/scratch"]);
    expect(paths.filter((path) => !expected.has(path) && !isRoom(path))).toEqual([]);
    expect(program.toSorted()).toEqual(["confined.probe.ts", "node", "node_modules", "package.json", "src"]);
    expect(leaks).toEqual([]);
    // Standard input and output alone.
    expect(descriptors).toEqual(["0 socket", "1 socket", "2 socket"]);
    expect(paths).toContain("/records/metadata/weir.sql");
  });

  it("S1: opens no secret of the installation, whatever its path", async () => {
    const parent = `/proc/${process.pid}`;
    const read = [
      ...planted.paths,

      join(bench.dataDir, "clickhouse.json"),
      join(engineFolder, "engine.sock"),
      join(engineFolder, "spill"),
      "/etc/passwd",
      "/etc/shadow",
      "/root",
      "/home",
      "/tmp",
      "/proc/1/environ",
      "/proc/self/environ",
      `${parent}/environ`,
      `${parent}/root`,
      "/sys",
      "/old/etc",
      "/records/../../etc/passwd",
      "/proc/1/root",
      "/records/access/users.xml",
      "/records/spill",
      "/dev/vda",
      "/dev/mem",
    ];
    const found = (await probed(engineFolder, { read })).read;
    expect(found).toEqual(Object.fromEntries(read.map((path) => [path, "ENOENT"])));
  });

  it("S1: writes nowhere but in its own folder", async () => {
    const write = [
      "/x",
      "/weir/x",
      "/weir/src/x",
      "/weir/src/main.ts",
      "/weir/node",
      "/old/x",
      "/proc/x",
      "/dev/x",
      "/records/x",
      "/records/metadata/x",
      "/records/metadata/weir.sql",
      "/records/store/x",
      "/tmp/x",
    ];
    const before = readFileSync(join(engineFolder, "metadata/weir.sql"));
    const found = (await probed(engineFolder, { write: [...write, "/scratch/x"] })).write;
    const { "/scratch/x": own, ...others } = found;
    expect(own).toBe("done");
    for (const [path, outcome] of Object.entries(others))
      expect(outcome, path).toMatch(/^(?:EROFS|ENOENT|ETXTBSY)$/);
    expect(readFileSync(join(engineFolder, "metadata/weir.sql"))).toEqual(before);
  });

  it("S1: connects to no listener of the machine, and gets no right back", async () => {
    const abstract = `\0weir-${process.pid}`;
    const path = join(bench.dataDir, "some.sock");
    const servers = await Promise.all([listen(0), listen(path), listen(abstract)]);
    const port = portOf(servers[0]);
    const enginePort = Number(new URL(await bench.analytics.analystAccess.url()).port);
    const outside = [port, enginePort, path, join(engineFolder, "engine.sock"), abstract];
    const found = await probed(engineFolder, { connect: [...outside, "own.sock"] });
    for (const server of servers) server.close();
    const { "own.sock": own, ...others } = found.connect;
    expect(own).toBe("done");
    expect(Object.values(others)).toEqual(["ENETUNREACH", "ENETUNREACH", "ENOENT", "ENOENT", "ECONNREFUSED"]);
    expect(found.interfaces).toEqual([]);
    expect(found.commands.filter((status) => status === 0)).toEqual([]);
  });

  it("S1: reads no secret by the engine's own functions, with every right and no check", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const port = portOf(server);
    const secrets = [
      ...planted.paths,
      join(bench.dataDir, "clickhouse.json"),
      "/etc/passwd",
      "/proc/self/environ",
    ];
    const sql = [
      ...secrets.map((path) => `SELECT file('${path}')`),
      ...secrets.map((path) => `SELECT * APPLY(file) FROM (SELECT '${path}' AS x)`),
      ...secrets.map((path) => `SELECT * FROM file('${path}', 'LineAsString')`),
      `SELECT * FROM url('http://127.0.0.1:${port}/', 'LineAsString') SETTINGS http_max_tries = 1`,
      "INSERT INTO FUNCTION file('/records/store/planted', 'CSV') SELECT 1",
      "SELECT * FROM executable('x', 'CSV', 'a String')",
    ];
    // The same function reads what is there: the refusals are the system's.
    const control = "SELECT length(file('/records/metadata/weir.sql')) > 0";
    const found = await probed(engineFolder, { sql: [...sql, control] });
    server.close();
    expect(found.sql.at(-1)).toBe("[1]");
    for (const [at, said] of found.sql.slice(0, -1).entries()) {
      expect(said, sql[at]).toContain("Exception");
      expect(said, sql[at]).not.toContain(CANARY);
    }
  });
});

it("S1: reads the planted secrets where it is not confined, so that the tests above can fail", async () => {
  const { paths: read } = planted;
  const { read: found } = await probed(engineFolder, { read }, { kind: "unconfined" });
  expect(found).toEqual(Object.fromEntries(read.map((path) => [path, "done"])));
});
