/** Analysts' drivers as their package managers bring them, in thorough runs: ClickHouse's for Python and for Java. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, test } from "vitest";
import { LIMIT_MS } from "../../support/wait.ts";
import { ANALYST, openSide, type Side } from "./isolation.fixtures.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "weir-drivers-"));
const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const isThorough = process.env.WEIR_THOROUGH !== undefined;
const reason = isThorough ? "" : "only with WEIR_THOROUGH=1, as it is fetched";
const noPython = reason || (has("python3", "-m", "pip", "--version") ? "" : "there is no pip");
const noJava = reason || (has("java", "-version") && has("mvn", "-v") ? "" : "there is no java or mvn");

let side: Side;
let url: URL;
beforeAll(async () => {
  if (noPython !== "" && noJava !== "") return;
  side = await openSide(["org_a", "org_b"]);
  url = new URL((await side.engine.address(LIMIT_MS)).url);
});
afterAll(async () => {
  await side?.close();
  rmSync(folder, { recursive: true, force: true });
});

const PYTHON = `
import sys, clickhouse_connect
host, port, user, password = sys.argv[1:]
for compress in (False, True):
    client = clickhouse_connect.get_client(host=host, port=int(port), username=user, password=password, database="weir", compress=compress)
    print(client.query("SELECT org_id, count() FROM requests WHERE status != {s:String} GROUP BY org_id", parameters={"s": "none"}).result_rows)
`;

test.skipIf(noPython !== "")(
  `clickhouse-connect reads the org's rows ${noPython}`,
  async ({ expect }) => {
    const script = join(folder, "read.py");
    writeFileSync(script, PYTHON);
    const target = join(folder, "python");
    await run("python3", ["-m", "pip", "install", "-q", "--target", target, "clickhouse-connect==1.12.0"]);
    const args = [script, url.hostname, url.port, ANALYST.username, ANALYST.password];
    const { stdout } = await run("python3", args, { env: { ...process.env, PYTHONPATH: target } });
    expect(stdout).toBe("[('org_a', 200)]\n".repeat(2));
  },
  240_000,
);

const JAVA = `
import java.sql.*;
public class Read {
  public static void main(String[] a) throws Exception {
    try (Connection c = DriverManager.getConnection(a[0], a[1], a[2]);
        PreparedStatement s = c.prepareStatement("SELECT org_id, count() FROM requests WHERE status != ? GROUP BY org_id")) {
      s.setString(1, "none");
      try (ResultSet r = s.executeQuery()) { while (r.next()) System.out.println(r.getString(1) + " " + r.getLong(2)); }
      DatabaseMetaData m = c.getMetaData();
      ResultSet[] described = {
        m.getTables(null, "weir", "%", null), m.getColumns(null, "weir", "ledger", "%"), m.getPrimaryKeys(null, "weir", "ledger"),
        m.getSchemas(), m.getTypeInfo(), m.getFunctions(null, null, "sum%"), m.getClientInfoProperties(),
      };
      for (ResultSet r : described) if (!r.next()) System.out.println("nothing described");
    }
  }
}
`;

test.skipIf(noJava !== "")(
  `the JDBC driver reads the org's rows ${noJava}`,
  async ({ expect }) => {
    const program = join(folder, "Read.java");
    writeFileSync(program, JAVA);
    for (const artifact of ["com.clickhouse:clickhouse-jdbc:0.9.4:jar:all", "org.slf4j:slf4j-api:2.0.16"]) {
      const copy = ["-q", "-B", "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
      await run("mvn", copy, { cwd: folder });
    }
    const read = (query: string) => {
      const address = `jdbc:clickhouse:${url.origin}/weir${query}`;
      // Loaded by name, as a program that is run from its source has no services of its class path.
      const args = ["-cp", join(folder, "*"), "-Djdbc.drivers=com.clickhouse.jdbc.Driver", program];
      return run("java", [...args, address, ANALYST.username, ANALYST.password]);
    };
    expect((await read("?compress=0")).stdout).toBe("org_a 200\n");
    await expect(read("")).rejects.toThrow("set compress=0");
  },
  240_000,
);
