"""Charts in one style: Altair charts from plain rows, as SVG for a page and as SVG, PNG or PDF for a paper.

`charts` builds them, `style` holds their colours and type, `render` turns them into files and into inlined SVG. Altair
takes seconds to import, so it is imported where a chart is made.
"""
