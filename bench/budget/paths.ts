/** Addresses of scripts as people know them. */

/** @returns the path in the repository, or from `node_modules` on; other addresses, such as `node:buffer`, as they are */
export function pathOf(url: string, repoDir: string): string {
  const repo = `file://${repoDir}/`;
  return url.startsWith(repo)
    ? url.slice(repo.length)
    : url.replace(/^(?:file:\/\/)?\/.*?\/node_modules\//, "node_modules/");
}
