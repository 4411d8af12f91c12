import { expect } from "chai";
import { html } from "../../../adapters/http/pages/share/html.js";
import { clockTime, type SharedTrackView, trackPage } from "../../../adapters/http/pages/share/page.js";
import { drawWaveform } from "../../../adapters/http/pages/share/waveform.js";

const FILES = { script: "player.js", style: "page.css", icon: "icon.svg" };

const VIEW: SharedTrackView = {
  token: "t".repeat(22),
  title: "Rain",
  artist: "Nightingale",
  durationSeconds: 65.4,
  waveform: [0, 255],
  audioType: "audio/mpeg",
  coverType: "image/png",
  url: `https://example.com/share/${"t".repeat(22)}`,
};

/** The heights of the bars, in the first of the two layers. */
function heightsOf(waveform: readonly number[] | null): number[] {
  const [rest = ""] = drawWaveform(waveform).text.split("</svg>");
  return [...rest.matchAll(/v(\d+)/g)].map(([, height]) => Number(height));
}

describe("the page of a shared track", () => {
  it("escapes every value, and nothing twice", () => {
    const inner = html`<b>${`<&"'>`}</b>`;
    expect(html`<p title="${'"x"'}">${inner}${[inner, html`!`]}${null}${0}</p>`.text).to.equal(
      '<p title="&quot;x&quot;"><b>&lt;&amp;&quot;&#39;&gt;</b><b>&lt;&amp;&quot;&#39;&gt;</b>!0</p>',
    );
  });

  it("writes lengths as players do, rounded to the nearest second", () => {
    const times = [0, 0.4, 29.99, 30, 59.999, 65.4, 600, 3_599, 3_599.5, 36_061].map(clockTime);
    const shown = ["0:00", "0:00", "0:30", "0:30", "1:00", "1:05", "10:00", "59:59", "1:00:00", "10:01:01"];
    expect(times).to.deep.equal(shown);
  });

  it("leaves an unknown length open", () => {
    const page = trackPage({ ...VIEW, durationSeconds: null }, FILES);
    expect(page).to.include('data-duration=""').and.to.include("<span data-total>–:––</span>");
    expect(page).to.include('<meta property="og:description" content="Nightingale">').and.not.include("music:duration");
  });

  it("does without an artist", () => {
    const page = trackPage({ ...VIEW, artist: "" }, FILES);
    expect(page).to.include("<title>Rain</title>").and.to.include('<meta name="description" content="1:05">');
  });

  it("draws as many bars of any waveform, the loudest the highest", () => {
    for (const length of [1, 2, 50, 88, 200, 400]) {
      const heights = heightsOf(Array.from({ length }, (_, index) => (255 * (index + 1)) / length));
      expect(heights, `${length} points`).to.have.length(88);
      expect(
        [...heights].sort((one, other) => one - other),
        `${length} points`,
      ).to.deep.equal(heights);
      expect(heights.at(-1)).to.be.within(58, 60);
    }
  });

  it("draws bars that are all alike when there is no waveform", () => {
    for (const none of [null, []]) expect(new Set(heightsOf(none))).to.deep.equal(new Set([3]));
  });
});
