"""Pages of `santasim report` in a browser without a window, for tests.

The environment variable SANTASIM names the program. Without chromium the tests of the page are
skipped, and say so.
"""

import html.parser
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("SANTASIM", "santasim")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
SMALL = ["--synthetic", "gaussian", "--config", "tiny-test", "--query-heads", "4", "--kv-heads",
         "2", "--head-dimension", "32", "--context", "200"]


def run(*words):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, check=False)


class Page(html.parser.HTMLParser):
    """Sections with their state, tables and number of drawings, and the attributes of the body."""

    def __init__(self, text):
        super().__init__()
        self.body, self.sections, self.links = {}, {}, []
        self._section, self._row, self._cell, self._script = None, None, None, False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "body":
            self.body = attrs
        elif tag == "section":
            self._section = self.sections[attrs["id"]] = {
                "state": attrs.get("data-state"), "rows": [], "drawings": 0, "text": ""}
        elif tag == "svg" and self._section and "main-svg" in attrs.get("class", ""):
            self._section["drawings"] += 1
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th") and self._row is not None:
            self._cell = ""
        self._script = tag in ("script", "style")
        self.links += [value for name, value in attrs.items() if name in ("src", "href")]

    def handle_endtag(self, tag):
        if tag == "section":
            self._section = None
        elif tag in ("td", "th") and self._row is not None:
            self._row.append(self._cell)
            self._cell = None
        elif tag == "tr" and self._section:
            self._section["rows"].append(self._row)
            self._row = None
        self._script = False

    def handle_data(self, data):
        if self._script:
            return
        if self._cell is not None:
            self._cell += data
        elif self._section:
            self._section["text"] += data


class Pages(unittest.TestCase):
    """Pages of a folder, which goes with the class."""

    SECTIONS: list[str] = []

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def make(self, *inputs):
        page = self.path / "page.html"
        page.unlink(missing_ok=True)
        done = run("report", *inputs, "-o", page)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return page

    def open(self, page, *flags):
        """The document after its scripts have run. Fails for anything on the browser's console."""
        if BROWSER is None:
            self.skipTest("chromium is not installed")
        with tempfile.TemporaryDirectory() as profile:
            done = subprocess.run(
                [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                 "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                 "--host-resolver-rules=MAP * ~NOTFOUND",
                 "--virtual-time-budget=60000", "--window-size=1280,1000", *flags, "--dump-dom",
                 page.as_uri()],
                capture_output=True, text=True, check=False, timeout=240)
        console = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
        self.assertEqual(console, [])
        return Page(done.stdout)

    def check_drawn(self, page, left_out):
        self.assertEqual(page.body.get("data-ready"), "yes")
        self.assertEqual(page.body.get("data-problems"), "")
        self.assertEqual(list(page.sections), self.SECTIONS)
        for name, section in page.sections.items():
            if name in left_out:
                self.assertEqual(section["state"], "left out", name)
                self.assertIn("Left out: ", section["text"])
                continue
            self.assertEqual(section["state"], "drawn", name)
            self.assertGreaterEqual(section["drawings"], 1, name)
            self.assertGreaterEqual(len(section["rows"]), 2, name)

    def refused(self, parts, *words):
        done = run("report", *words)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr.count("\n"), 1)
        for part in parts:
            self.assertIn(part, done.stderr)

    def open_narrow(self, page, chosen, section):
        """Attributes of a body around the page at 400 pixels: widths, what a button of a table says
        when it was clicked, and the first paragraph of a section after another choice."""
        frame = self.path / "frame.html"
        frame.write_text(f"""<!DOCTYPE html><body><iframe src="{page.name}"
          style="width:400px;height:6000px;border:0"></iframe><script>
          const wait = (ms) => new Promise((done) => setTimeout(done, ms));
          window.onload = async () => {{
            const inner = document.querySelector("iframe").contentDocument;
            while (inner.body.dataset.ready !== "yes") await wait(100);
            const figures = [...inner.querySelectorAll(".figure")];
            const result = document.body.dataset;
            result.width = inner.documentElement.scrollWidth;
            result.widest = Math.max(...figures.map((f) => f.scrollWidth));
            const button = inner.querySelector("button");
            button.click();
            await wait(300);
            result.copied = button.textContent;
            const select = inner.querySelector("select");
            select.value = "{chosen}";
            select.dispatchEvent(new Event("change"));
            await wait(3000);
            result.chosen = inner.querySelector("#{section} p").textContent;
            result.done = "yes";
          }};</script>""")
        body = self.open(frame, "--allow-file-access-from-files").body
        self.assertEqual(body.get("data-done"), "yes")
        self.assertLessEqual(int(body["data-width"]), 400)
        self.assertLessEqual(int(body["data-widest"]), 400)
        self.assertEqual(body["data-copied"], "copied")
        return body
