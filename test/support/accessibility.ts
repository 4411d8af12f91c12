import axe from "axe-core";
import { expect } from "chai";
import type { Page } from "playwright-core";

/** axe's violations of a page, by the rules of WCAG 2.2 AA and good practice. @param rules all by default */
export async function violationsIn(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Once in a document is enough: it is half a megabyte.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(axe.source);
  const options = rules === undefined ? {} : { runOnly: rules };
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${JSON.stringify(options)})`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(", ")}`);
}

/** No violations, and nothing that only scrolling sideways would show. */
export async function expectAccessible(page: Page, what = "", rules?: readonly string[]): Promise<void> {
  const [wanted, wide] = await page.evaluate<[number, number]>("[document.documentElement.scrollWidth, innerWidth]");
  expect(wanted, `${what}: nothing sticks out to the right`).to.be.at.most(wide);
  expect(await violationsIn(page, rules), what).to.deep.equal([]);
}
