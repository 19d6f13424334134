"""The API's own documentation works under the Content Security Policy, and nothing of it comes from elsewhere."""


def test_api_page_draws_the_operations(page, transactional_db):
    page.goto("/api/v1/docs/")
    page.locator(".swagger-ui .info .title").wait_for()
    assert "Consilium" in page.locator(".swagger-ui .info .title").inner_text()
