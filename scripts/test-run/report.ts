/**
 * What one run of vitest found, file by file. It is written when all tests have run, for the process that started the run; a run
 * that ended before leaves none.
 */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { stripVTControlCharacters } from "node:util";
// It adds `configureVitest` to the plugins of Vite.
import type {} from "vitest/config";
import type { Reporter, SerializedError, TestModule, TestRunEndReason, Vite } from "vitest/node";

export interface Failure {
  /** Name and message. */
  readonly message: string;
  /** The same with difference and stack. */
  readonly detail: string;
}

export interface TestResult {
  /** With its suites, divided by " > ". */
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly failures: readonly Failure[];
}

export interface FileResult {
  /** Vitest's project: a file may be in several. Empty where there are none. */
  readonly project: string;
  /** From the folder in which the run was started. */
  readonly file: string;
  readonly path: string;
  /** The file was imported, and it has tests. */
  readonly loaded: boolean;
  readonly failed: boolean;
  /** Outside of its tests: of its import, and of hooks. */
  readonly failures: readonly Failure[];
  readonly tests: readonly TestResult[];
}

export interface Report {
  readonly reason: TestRunEndReason;
  readonly files: readonly FileResult[];
  /** Errors that belong to no test and no file, such as the end of a process. */
  readonly errors: readonly Failure[];
  /** Tests that vitest would repeat by itself. */
  readonly retrying: readonly string[];
}

/** Names the file for the report to `reportPlugin`. */
export const REPORT_VARIABLE = "WEIR_TEST_REPORT";

const reportFile = process.env[REPORT_VARIABLE];
// A run that one of the tests starts writes no report, and not this one.
delete process.env[REPORT_VARIABLE];

/** For the configuration of vitest: has a run that `scripts/test.ts` started leave a report, beside what its reporters print. */
export function reportPlugin(): Vite.Plugin {
  return {
    name: "weir:report",
    // Called once for each project.
    configureVitest({ vitest: { config } }) {
      const hasWriter = config.reporters.some((reporter) => reporter instanceof ReportWriter);
      if (reportFile !== undefined && !hasWriter) config.reporters.push(new ReportWriter(reportFile));
    },
  };
}

class ReportWriter implements Reporter {
  readonly #file: string;
  readonly #unloaded = new Set<TestModule>();

  constructor(file: string) {
    this.#file = file;
  }

  /** Hooks have not run yet, so an error at this time is of the import. */
  onTestModuleCollected(module: TestModule): void {
    if (module.errors().length > 0) this.#unloaded.add(module);
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const report: Report = {
      reason,
      files: modules.map((module) => this.#fileResult(module)),
      errors: errors.map(failureOf),
      retrying: modules.flatMap((module) =>
        [...module.children.allTests()]
          .filter(({ options }) => options.retry !== undefined && options.retry !== 0)
          .map(({ fullName }) => `${relative(process.cwd(), module.moduleId)}: ${fullName}`),
      ),
    };
    writeFileSync(this.#file, JSON.stringify(report));
  }

  #fileResult(module: TestModule): FileResult {
    const tests = [...module.children.allTests()].map((test): TestResult => {
      const { state, errors = [] } = test.result();
      // A test that never ended is of a process that did not live to its end.
      return {
        name: test.fullName,
        state: state === "pending" ? "failed" : state,
        failures: errors.map(failureOf),
      };
    });
    const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
    const hasEnded = module.state() === "passed" || module.state() === "skipped";
    return {
      project: module.project.name,
      file: relative(process.cwd(), module.moduleId),
      path: module.moduleId,
      loaded: !this.#unloaded.has(module) && tests.length > 0,
      failed: !hasEnded || !module.ok(),
      failures: [...module.errors(), ...suites].map(failureOf),
      tests,
    };
  }
}

function failureOf({ name, message, stack, diff }: SerializedError): Failure {
  const said = `${name ?? "Error"}: ${message}`;
  const detail = [stack?.includes(message) ? stack : `${said}\n${stack ?? ""}`, diff]
    .filter((text) => typeof text === "string")
    .join("\n");
  return { message: stripVTControlCharacters(said), detail: stripVTControlCharacters(detail) };
}
