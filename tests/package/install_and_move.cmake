# Installs what was built, then moves it: whoever finds it finds it where it is, not where it was put.
# cmake -D BUILD=build -D FOLDER=folder -P install_and_move.cmake
file(REMOVE_RECURSE ${FOLDER})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/first COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${FOLDER}/first ${FOLDER}/moved)
