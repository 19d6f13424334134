"""The API's own documentation works under the Content Security Policy, and nothing of it comes from elsewhere."""


def test_api_page_draws_the_operations(page, transactional_db):
    page.goto("/api/v1/docs/")
    page.locator(".swagger-ui .info .title").wait_for()
    assert "Consilium" in page.locator(".swagger-ui .info .title").inner_text()


def test_every_operation_is_listed_and_found_by_words(page, transactional_db):
    page.goto("/api/v1/docs/")
    box = page.get_by_label("Find an operation")
    box.wait_for()
    links = page.locator("#operation-list a")
    assert links.count() > 200
    box.fill("get responses list")
    link = page.get_by_role("link", name="GET /api/v1/benchmarks/{slug}/responses/", exact=True)
    link.wait_for()
    page.get_by_role("link", name="GET /api/v1/benchmarks/{slug}/reports/", exact=True).wait_for(state="hidden")
    link.click()
    page.locator("#operations-responses-responses_list .opblock-body").wait_for()


def test_the_page_is_as_wide_as_a_phone_and_dark_where_the_reader_wants_it(page, transactional_db):
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark")
    page.goto("/api/v1/docs/")
    page.get_by_label("Find an operation").wait_for()
    page.get_by_role("link", name="GET /api/v1/benchmarks/{slug}/responses/", exact=True).click()
    page.locator("#operations-responses-responses_list .opblock-body").wait_for()
    page.locator("#operations-responses-responses_list .parameters").first.wait_for()
    wide = """() => [...document.querySelectorAll("body *")].filter(
        each => each.getBoundingClientRect().right > 391 && !each.closest("table, pre, .highlight-code")
    ).map(each => each.tagName + "." + each.className).slice(0, 12)"""
    assert page.evaluate("document.documentElement.scrollWidth") <= 390, page.evaluate(wide)
    darkness = """selector => getComputedStyle(document.querySelector(selector)).backgroundColor
        .match(/[0-9.]+/g).slice(0, 3).every(each => each < 80)"""
    assert page.evaluate(darkness, "body")
    assert page.evaluate(darkness, ".swagger-ui")
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"() => !({darkness})('body')")
    page.evaluate("localStorage.setItem('consilium-theme', 'dark')")
    page.goto("/api/v1/docs/")  # not a reload: Swagger warns of the operation that the address now names
    page.locator("#operation-list a").first.wait_for()
    assert page.evaluate(darkness, "body")
