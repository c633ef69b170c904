/** How tools connect to the analytics database as an analyst's user. Pure. */

export interface Connection {
  /** ClickHouse's HTTP interface. */
  readonly url: string;
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

/** Stands in the place of a password that is not known any more. */
export const ANY_PASSWORD = "YOUR_PASSWORD";

/** A question that any org can ask, for a first try. */
export const FIRST_QUESTION =
  "SELECT model, count() AS calls FROM requests GROUP BY model ORDER BY calls DESC";

export interface ConnectionText {
  readonly id: string;
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

/** For each kind of tool what is copied into it. */
export function connectionTexts(to: Connection): readonly ConnectionText[] {
  const at = new URL(to.url);
  const isSecure = at.protocol === "https:";
  const port = at.port === "" ? (isSecure ? "443" : "80") : at.port;
  return [
    {
      id: "python",
      name: "Python",
      about: "With the package clickhouse-connect: pip install clickhouse-connect",
      text: pythonText(to, at.hostname, port, isSecure),
    },
    {
      id: "jdbc",
      name: "BI tools (JDBC)",
      about:
        "DBeaver, Metabase and others with ClickHouse's JDBC driver; user and password have fields of their own.",
      text: `jdbc:clickhouse:${at.protocol}//${at.hostname}:${port}/${to.database}?compress=0\n${to.username}\n${to.password}`,
    },
    {
      id: "curl",
      name: "curl",
      about: "Any program that speaks HTTP can ask like this.",
      text: curlText(to),
    },
    {
      id: "client",
      name: "clickhouse-client",
      about:
        "Only where the database is a ClickHouse server of its own, by its native port. The gateway's built-in engine speaks HTTP alone: ask it as curl does.",
      text: [
        `clickhouse-client --host ${at.hostname}${isSecure ? " --secure" : ""} --database ${to.database} \\`,
        `  --user ${to.username} --password '${to.password}' \\`,
        `  --query "${FIRST_QUESTION}"`,
      ].join("\n"),
    },
  ];
}

const pythonText = (to: Connection, host: string, port: string, isSecure: boolean): string =>
  [
    "import clickhouse_connect",
    "",
    "client = clickhouse_connect.get_client(",
    `    host=${JSON.stringify(host)}, port=${port},${isSecure ? " secure=True," : ""}`,
    `    username=${JSON.stringify(to.username)},`,
    `    password=${JSON.stringify(to.password)},`,
    `    database=${JSON.stringify(to.database)},`,
    ")",
    `print(client.query(${JSON.stringify(FIRST_QUESTION)}).result_rows)`,
  ].join("\n");

const curlText = ({ url, database, username, password }: Connection): string =>
  [
    `curl '${url.replace(/\/$/, "")}/?database=${encodeURIComponent(database)}' -u '${username}:${password}' \\`,
    `  --data-binary '${FIRST_QUESTION} FORMAT PrettyCompact'`,
  ].join("\n");
