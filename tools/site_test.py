#!/usr/bin/env python3
# Holds the site to what it is for, in a browser: `site_test.py FOLDER` loads every page in headless Chromium, follows
# every link to a file of the site and to an anchor of it, searches for `vmap`, and copies a block of code. Needs
# Selenium, Chromium and its driver (tools/packages.txt, `site`). Prints what is wrong, or OK.
import functools
import re
import sys
import threading
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        self.links |= {found[name] for name in ("href", "src") if found.get(name)}


def dead_links(root):
    pages = {path.relative_to(root).as_posix(): Page(path) for path in root.rglob("*.html")}
    for name, page in pages.items():
        for link in page.links:
            if re.match(r"(?:https?|data|mailto):|//", link):
                continue
            there, anchor = urldefrag(urljoin(name, link))
            there = re.sub(r"\?.*", "", unquote(there)) or name
            if not (root / there).is_file():
                yield f"{name}: links to {link}, which does not exist"
            elif anchor and there in pages and unquote(anchor) not in pages[there].anchors:
                yield f"{name}: links to {link}, which has no such anchor"


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def browser():
    options = webdriver.ChromeOptions()
    for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def problems(root, address, chrome):
    for path in sorted(root.rglob("*.html")):
        name = path.relative_to(root).as_posix()
        chrome.get(f"{address}/{name}")
        if not chrome.title:
            yield f"{name}: has no title"
        for entry in chrome.get_log("browser"):
            if entry["level"] == "SEVERE" and "favicon" not in entry["message"]:
                yield f"{name}: {entry['message']}"
        blocks = chrome.execute_script("return document.querySelectorAll('div.highlight pre').length")
        buttons = chrome.execute_script("return document.querySelectorAll('button.copybtn').length")
        if blocks != buttons:
            yield f"{name}: {blocks} blocks of code have {buttons} buttons that copy"

    chrome.get(f"{address}/search.html?q=vmap")
    try:  # results come one after the other
        WebDriverWait(chrome, 30).until(lambda c: c.find_elements(By.CSS_SELECTOR, "ul.search li a[href*=vmap]"))
    except TimeoutException:
        yield "search.html: vmap finds no page about it"

    allowed = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": address}
    chrome.execute_cdp_cmd("Browser.grantPermissions", allowed)
    chrome.get(f"{address}/index.html")
    block = chrome.find_element(By.CSS_SELECTOR, "div.highlight")
    code = block.find_element(By.CSS_SELECTOR, "pre").text.strip()
    button = block.find_element(By.CSS_SELECTOR, "button.copybtn")
    webdriver.ActionChains(chrome).move_to_element(block).pause(0.5).move_to_element(button).click().perform()
    WebDriverWait(chrome, 20).until(lambda c: "success" in button.get_attribute("class"))
    chrome.execute_script("document.body.innerHTML = '<textarea></textarea>'")
    area = chrome.find_element(By.CSS_SELECTOR, "textarea")
    area.send_keys(Keys.CONTROL, "v")
    if area.get_attribute("value").split() != code.split():
        yield f"index.html: a block of code is copied as {area.get_attribute('value')[:60]!r}, it is {code[:60]!r}"


def main(root):
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    chrome = browser()
    try:
        found = [*dead_links(root), *problems(root, f"http://127.0.0.1:{server.server_port}", chrome)]
    finally:
        chrome.quit()
    for text in found:
        print(text)
    if found:
        sys.exit(f"site_test: {len(found)} finding(s)")
    print(f"site_test: OK, {len([*root.rglob('*.html')])} pages")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
