/** For operations that are run without a request. */
import type { HttpHead } from "../../src/base/operation/http-head.ts";

export const NO_HEAD: HttpHead = { header: () => "", cookie: () => undefined, address: "" };
