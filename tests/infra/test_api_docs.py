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
