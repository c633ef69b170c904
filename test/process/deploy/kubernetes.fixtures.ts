/**
 * What the schema of the Kubernetes API says of an object: TypeScript compares it with the API's types, which finds fields that do not
 * exist, and the generated validators find missing fields and wrong values.
 */
import { spawnSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Manifest } from "../../support/deploy/fixtures.ts";
import { REPO, testFolder } from "../../support/process.fixtures.ts";

const modelOf = ({ apiVersion, kind }: Manifest) => `kubernetes-models/${apiVersion}/${kind}`;

/** Complaints of the compiler and the validators about each object, in the order of the objects. */
export async function complaints(objects: readonly Manifest[]): Promise<string[][]> {
  const folder = testFolder();
  symlinkSync(join(REPO, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  // Fresh literals: only those are searched for members that the type lacks.
  const files = objects.map((object, i) => {
    const file = join(folder, `object${i}.ts`);
    const type = `I${object.kind}`;
    const text = `import type { ${type} } from "${modelOf(object)}";\nexport const it: ${type} = ${JSON.stringify(object, null, 2)};\n`;
    writeFileSync(file, text);
    return file;
  });
  const flags = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"];
  const tsc = join(REPO, "node_modules/.bin/tsc");
  const { stdout, error } = spawnSync(tsc, [...flags, ...files], { cwd: folder, encoding: "utf8" });
  if (error !== undefined) throw error;
  const found = objects.map((_, i) =>
    stdout.split("\n").filter((line) => line.startsWith(`object${i}.ts`) || line.includes(`/object${i}.ts`)),
  );
  const placed = found.flat().length;
  const told = stdout.split("\n").filter((line) => line.includes("error TS")).length;
  // What names no object, such as a package that is missing, must not be lost.
  if (placed !== told) throw new Error(stdout);
  for (const [i, object] of objects.entries()) {
    const Model = (await import(modelOf(object)))[String(object.kind)];
    try {
      new Model(object).validate();
    } catch (fault) {
      found[i]?.push(String(fault));
    }
  }
  return found;
}

/** A copy whose text is changed in one place. @throws Error where the text has no such place, or several */
export function changed(object: Manifest, from: string, to: string): Manifest {
  const text = JSON.stringify(object);
  if (text.split(from).length !== 2) throw new Error(`not one ${from} in ${object.kind}`);
  return JSON.parse(text.replace(from, to));
}
