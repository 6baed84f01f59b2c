# The icons, compiled into the widgets library as :/icons/NAME.svg. Line icons are drawn with currentColor, which
# widgets/panels/LineIcon.cpp replaces by the colour of the text, so that they follow light and dark.
file(GLOB stepscope_icons CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/icons/*.svg)
qt_add_resources(stepscope_widgets stepscope_icons PREFIX "/" BASE ${CMAKE_CURRENT_LIST_DIR} FILES ${stepscope_icons})
# The user guide, as :/guide/NAME.md: widgets/panels/guide/GuideChapters.cpp.
file(GLOB stepscope_guide CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/guide/*.md)
qt_add_resources(stepscope_widgets stepscope_guide PREFIX "/" BASE ${CMAKE_CURRENT_LIST_DIR} FILES ${stepscope_guide})
# What the guide shows, as :/screenshots/NAME.png; the README's own picture is not in it.
file(GLOB stepscope_shown CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/screenshots/*.png)
list(FILTER stepscope_shown EXCLUDE REGEX "/live-[^/]*$")
qt_add_resources(stepscope_widgets stepscope_pictures PREFIX "/" BASE ${CMAKE_CURRENT_LIST_DIR} FILES ${stepscope_shown})
