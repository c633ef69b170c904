/**
 * The root that the analysts' process sees: a file system of its own with the program, the libraries that it is linked with, the
 * records and one folder to write in. It is made of bind mounts in namespaces of the process's own, by util-linux: `unshare`,
 * `mount`, `pivot_root`, `umount` and `setpriv`. There is no /proc, no /sys, no /etc, no home and no network device.
 * https://man7.org/linux/man-pages/man1/unshare.1.html, https://man7.org/linux/man-pages/man7/user_namespaces.7.html
 */
import { execFile } from "node:child_process";
import { access, constants, realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** `user`: a user namespace, which every user may make; `root`: namespaces that only a process with CAP_SYS_ADMIN may make. */
export type Namespaces = "user" | "root";

/** A file or folder that the process sees. */
export interface Visible {
  readonly from: string;
  /** In the root; default: the same path. */
  readonly to?: string;
  readonly isWritable?: boolean;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

/** Where things are in the root. */
export const PROGRAM = "/weir";
export const RECORDS = "/records";
export const SCRATCH = "/scratch";

const SOURCE = fileURLToPath(new URL("../..", import.meta.url));
const TOOLS = ["sh", "mkdir", "mount", "pivot_root", "umount", "setpriv", "unshare"] as const;
const FOLDERS = ["/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin", "/usr/local/bin"];
const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
const TOOL_MS = 10_000;

/** Where the machine's memory ends, the system ends this process, and neither the gateway nor the engine. Every process may raise it. */
const FIRST_TO_END = 1000;

/**
 * Arguments: folder to mount the root over, then a mode, a path and its path in the root for each thing to show, `--`, then
 * `setpriv` and what to execute. The root's own mount is read-only at the end, so that nothing can be planted in it. A user
 * namespace within this one would hold rights over new mounts: none may be made.
 */
const SCRIPT = `
set -eu
root=$1
shift
mount -t tmpfs -o mode=755,size=4m,nosuid,nodev weir "$root"
mkdir "$root/old" "$root/proc"
# For umount, which reads there what is mounted; gone at the end.
mount --rbind /proc "$root/proc"
while [ "$1" != -- ]; do
  if [ -d "$2" ]; then mkdir -p "$root$3"; else mkdir -p "$root\${3%/*}"; : > "$root$3"; fi
  if [ "$1" = rw ]; then mount --bind "$2" "$root$3"; else mount --bind -o ro "$2" "$root$3"; fi
  shift 3
done
shift
mount -o remount,bind,ro "$root"
if [ -w /proc/sys/user/max_user_namespaces ] && [ "$WEIR_NAMESPACES" = user ]; then
  echo 0 > /proc/sys/user/max_user_namespaces
fi
echo ${FIRST_TO_END} > /proc/self/oom_score_adj || :
umount=$(command -v umount)
cd "$root"
pivot_root . old
cd ${SCRATCH}
"$umount" -l /old
"$umount" -l /proc
ulimit -c 0
unset PATH PWD OLDPWD SHLVL WEIR_NAMESPACES umount root
exec "$@"
`;

/** What a process keeps of rights: none, whatever it executes. */
const RIGHTLESS = [
  "--no-new-privs",
  "--bounding-set=-all",
  "--inh-caps=-all",
  "--ambient-caps=-all",
  "--securebits=+noroot,+noroot_locked",
];

const NAMESPACES = [
  "--mount",
  "--net",
  "--ipc",
  "--uts",
  "--pid",
  "--fork",
  // The process in the namespaces ends with `unshare`, however that ends.
  "--kill-child=KILL",
];

export interface RootOptions {
  readonly namespaces: Namespaces;
  /** Empty folder of this user, over which the root is mounted, in namespaces of its own. */
  readonly mountPoint: string;
  /** Folder that the process may write in. */
  readonly scratch: string;
  /** Beside the program and its libraries. */
  readonly visible: readonly Visible[];
  /** Executables and libraries whose libraries are shown with them. */
  readonly linked: readonly string[];
  /** Executed in the root; its first word is a path there. */
  readonly execute: readonly string[];
}

/**
 * The command that makes the root and executes a program in it. It takes no environment from its caller but what it is given, and
 * ends with the thread that starts it.
 * @throws Error with the reason, where a tool is missing
 */
export async function rootCommand(options: RootOptions): Promise<Command> {
  const tools = await findTools();
  const own = [process.execPath, tools.setpriv, tools.umount];
  const libraries = await librariesOf([...own, ...options.linked]);
  const shown: Visible[] = [
    ...[...new Set([...libraries, tools.setpriv, tools.umount])].map((from) => ({ from })),
    { from: await realpath(process.execPath), to: `${PROGRAM}/node` },
    ...DEVICES.map((from) => ({ from })),
    ...options.visible,
    { from: options.scratch, to: SCRATCH, isWritable: true },
  ];
  const binds = shown.flatMap(({ from, to = from, isWritable }) => [isWritable ? "rw" : "ro", from, to]);
  const kind = options.namespaces === "user" ? ["--user", "--map-root-user"] : [];
  return {
    file: tools.setpriv,
    args: [
      "--pdeathsig=KILL",
      tools.unshare,
      ...kind,
      ...NAMESPACES,
      tools.sh,
      "-c",
      SCRIPT,
      "sh",
      options.mountPoint,
      ...binds,
      "--",
      tools.setpriv,
      ...RIGHTLESS,
      ...options.execute,
    ],
  };
}

/** Environment of the command: what the script needs and then unsets. */
export const rootEnvironment = (namespaces: Namespaces): NodeJS.ProcessEnv => ({
  PATH: FOLDERS.join(delimiter),
  WEIR_NAMESPACES: namespaces,
});

/** The code that the analysts' process runs, and the engine, as they are shown in the root. */
export async function programFiles(): Promise<{ visible: Visible[]; linked: string[] }> {
  const chdb = dirname(createRequire(import.meta.url).resolve("chdb/package.json"));
  const library = `@chdb/lib-${process.platform}-${process.arch}${process.platform === "linux" ? "-gnu" : ""}`;
  const engine = dirname(createRequire(join(chdb, "package.json")).resolve(library));
  return {
    visible: [
      { from: SOURCE, to: `${PROGRAM}/src` },
      { from: join(SOURCE, "../package.json"), to: `${PROGRAM}/package.json` },
      { from: chdb, to: `${PROGRAM}/node_modules/chdb` },
      { from: engine, to: `${PROGRAM}/node_modules/${library}` },
    ],
    linked: [join(engine, "libchdb.so")],
  };
}

type Tools = Readonly<Record<(typeof TOOLS)[number], string>>;

/** Programs of the system's own folders only: what a user's PATH leads to is not asked to confine anything. */
async function findTools(): Promise<Tools> {
  const found = await Promise.all(TOOLS.map(async (name) => [name, await find(name)] as const));
  return Object.fromEntries(found) as Tools;
}

async function find(name: string): Promise<string> {
  for (const folder of FOLDERS) {
    const path = join(folder, name);
    if (await access(path, constants.X_OK).then(...YES_NO)) return path;
  }
  throw new Error(`the program ${name} of util-linux is not installed`);
}

const YES_NO = [() => true, () => false] as const;

/**
 * Paths of the libraries that the dynamic linker loads for these files, the linker itself among them. Its lines are
 * `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)` and `/lib64/ld-linux-x86-64.so.2 (0x…)`.
 */
async function librariesOf(files: readonly string[]): Promise<string[]> {
  const ldd = await find("ldd");
  const { stdout } = await run(ldd, [...files], { env: { PATH: FOLDERS.join(delimiter) }, timeout: TOOL_MS });
  const paths = stdout
    .split("\n")
    .flatMap((line) => /^\t(?:\S+ => )?(\/.+) \(0x[0-9a-f]+\)$/.exec(line)?.[1] ?? []);
  return [...new Set(paths)];
}
